import { Cause, Effect, Logger } from "effect"
import { plain } from "./Plain.js"

const writeLine = (line: string) => process.stderr.write(`coffer-mcp: ${plain(line)}\n`)

/** Something to know, for whoever runs the program: on standard error, because standard output is the protocol's. */
export const note = (line: string): Effect.Effect<void> => Effect.sync(() => writeLine(line))

/** Warnings from inside, a line each on standard error. */
export const warnings = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => writeLine(`warning: ${Array.isArray(message) ? message.join(" ") : String(message)}`))
)

/** A mistake in the program: its kind alone, because its own words may hold a value. */
export const noteDefect = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const defect = Cause.squash(cause)
  return note(`something is wrong inside coffer-mcp (${defect instanceof Error ? defect.name : typeof defect})`)
}
