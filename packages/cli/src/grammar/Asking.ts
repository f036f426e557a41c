import { breakingGlass, withReason } from "@coffer/client/internal/Asking"
import { isReason, reasonForm } from "@coffer/domain/base/ReasonForm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type { CannotDo, Failure } from "../base/Failures.js"
import type { Output } from "../terminal/Output.js"
import { printJson } from "../terminal/Print.js"
import { type Codec, common, option } from "./Specs.js"

const reason: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) => (isReason(text) ? Either.right(text) : Either.left(`${name} ${reasonForm.message}`))
}

/** The options of commands that change an environment, which may be protected. */
export const askingSpecs = {
  reason: common(option("reason", reason, "Why, for the people who approve changes of a protected environment")),
  breakGlass: common(
    option(
      "break-glass",
      reason,
      "Change a protected environment at once, for this reason, which its owners are mailed"
    )
  )
}

const textIn = <Name extends keyof typeof askingSpecs>(options: object, name: Name): string | undefined =>
  Predicate.hasProperty(options, name) && typeof options[name] === "string" ? options[name] : undefined

/** Sends what these options say with every change, and prints the request of a change that waits, for machines. */
export const asking = (options: object, json: boolean) => {
  const [why, glass] = [textIn(options, "reason"), textIn(options, "breakGlass")]
  return <A, E extends Failure, R>(changes: Effect.Effect<A, E, R>): Effect.Effect<A, CannotDo | E, Output | R> =>
    changes.pipe(
      why === undefined ? identity : withReason(why),
      glass === undefined ? identity : breakingGlass(glass),
      Effect.tapError((failure) =>
        json && failure._tag === "ChangeRequested" ? printJson(failure.request) : Effect.void
      )
    )
}
