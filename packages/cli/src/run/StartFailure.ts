import * as Effect from "effect/Effect"
import type { Failure } from "../base/Failures.js"
import { NotStarted } from "./Start.js"

/** Describes a failure. Loaded late: the errors of the contract are not needed to start a command. */
export const sentenceOf = (failure: Failure): Effect.Effect<string> =>
  Effect.flatMap(
    Effect.promise(() => import("../program/Explain.js")),
    ({ sentenceFor }) => sentenceFor(failure)
  )

/** A failure before the command starts has its own exit code, unlike any of the command. */
export const beforeStart = (failure: Failure): Effect.Effect<never, NotStarted> =>
  Effect.flatMap(sentenceOf(failure), (message) => new NotStarted({ code: 125, message }))
