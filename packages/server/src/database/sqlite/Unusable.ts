import Sqlite from "better-sqlite3"
import { Effect, Option } from "effect"
import { StartupError } from "../../StartupError.js"
import { reasonOf } from "../Reason.js"
import { isSqlError } from "../SqlErrors.js"

const causeOf = (defect: unknown): unknown => (isSqlError(defect) ? defect.cause : defect)

/**
 * A statement that fails is a defect to whatever runs it. To who starts a program it is a sentence: a disk that is full or
 * broken is no mistake in the program.
 */
export const explainUnusable = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
  Effect.catchSomeDefect(program, (defect) => {
    const cause = causeOf(defect)
    return cause instanceof Sqlite.SqliteError
      ? Option.some(new StartupError({ message: `the database cannot be read or written: ${reasonOf(cause)}` }))
      : Option.none()
  })
