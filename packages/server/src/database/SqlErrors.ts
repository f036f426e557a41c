import { SqlError } from "@effect/sql"
import { Effect, Option, Predicate } from "effect"
import { Transaction } from "./Database.js"

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

/** Waits for the statements that the open transaction has sent: one of them may violate an index. */
const settledIfOpen = Effect.flatMap(Effect.serviceOption(Transaction), (found) =>
  Option.isNone(found) ? Effect.void : Effect.orDie(found.value[0].settled)
)

/** Fails with the caller's error if a statement violates a unique index. The transaction must then be rolled back. */
export const orTaken =
  <E2>(taken: () => E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.catchSomeDefect(Effect.zipLeft(effect, settledIfOpen), (defect) =>
      isUniqueViolation(defect) ? Option.some(Effect.fail(taken())) : Option.none()
    )
