import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"
import { isSqlError } from "../SqlErrors.js"

const causeOf = (defect: unknown): unknown => (isSqlError(defect) ? defect.cause : defect)

/**
 * Turns the defect of a failed statement into a message for the operator: a full or broken disk is not a bug in the
 * program.
 */
export const explainUnusable = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
  Effect.catchSomeDefect(program, (defect) => {
    const cause = causeOf(defect)
    return cause instanceof Sqlite.SqliteError
      ? Option.some(new StartupError({ message: `the database cannot be read or written: ${reasonOf(cause)}` }))
      : Option.none()
  })
