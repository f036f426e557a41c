import { SqlError } from "@effect/sql"
import { Effect, Option, Predicate } from "effect"

export const isSqlError = (error: unknown): error is SqlError.SqlError => error instanceof SqlError.SqlError

/** The error of statements and commits of a transaction that was rolled back. */
export const rolledBack = new SqlError.SqlError({
  cause: new Error("the transaction was rolled back"),
  message: "Failed to execute statement"
})

/** The codes of a violated unique index: SQLite's extended code and PostgreSQL's SQLSTATE. */
const uniqueViolations: ReadonlyArray<unknown> = ["SQLITE_CONSTRAINT_UNIQUE", "23505"]

/** Whether a statement violated a unique index: a live record of that name exists already. */
export const isUniqueViolation = (error: unknown): error is SqlError.SqlError =>
  isSqlError(error) && Predicate.hasProperty(error.cause, "code") && uniqueViolations.includes(error.cause.code)

/** Fails with the caller's error if a statement violates a unique index. The transaction must then be rolled back. */
export const orTaken =
  <E2>(taken: () => E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.catchSomeDefect(effect, (defect) =>
      isUniqueViolation(defect) ? Option.some(Effect.fail(taken())) : Option.none()
    )
