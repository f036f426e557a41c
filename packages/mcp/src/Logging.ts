import { Cause, Effect, Logger } from "effect"
import { note } from "./Stderr.js"

/** Warnings from inside, a line each on standard error. */
export const warnings = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => note(`warning: ${Array.isArray(message) ? message.join(" ") : String(message)}`))
)

/** A mistake in the program: its kind alone, because its own words may hold a value. */
export const noteDefect = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.sync(() => {
    const defect = Cause.squash(cause)
    note(`something is wrong inside coffer-mcp (${defect instanceof Error ? defect.name : typeof defect})`)
  })
