import { SqlError } from "@effect/sql"
import { Effect, Option, Predicate } from "effect"

export const isSqlError = (error: unknown): error is SqlError.SqlError => error instanceof SqlError.SqlError

/** How the engines name a unique index that was violated: SQLite's extended code, and the SQLSTATE of PostgreSQL. */
const uniqueViolations: ReadonlyArray<unknown> = ["SQLITE_CONSTRAINT_UNIQUE", "23505"]

/** Whether a statement failed because a live record of that name is there already. */
export const isUniqueViolation = (error: unknown): error is SqlError.SqlError =>
  isSqlError(error) && Predicate.hasProperty(error.cause, "code") && uniqueViolations.includes(error.cause.code)

/** Fails with an error of the caller where a statement found a name taken. The transaction has to be rolled back then. */
export const orTaken =
  <E2>(taken: () => E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.catchSomeDefect(effect, (defect) =>
      isUniqueViolation(defect) ? Option.some(Effect.fail(taken())) : Option.none()
    )
