import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { typeOfDefect } from "./DefectType.js"
import { note } from "./Stderr.js"

/** Writes each warning of the program as one line to standard error. */
export const warnings = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => note(`warning: ${Array.isArray(message) ? message.join(" ") : String(message)}`))
)

/** Describes a defect by its type alone: its message may contain a value. */
export const noteDefect = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.sync(() => {
    note(`something is wrong inside coffer-mcp (${typeOfDefect(cause)})`)
  })
