import * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { Transaction } from "./Database.js"
import { hasChangedNothing, OutcomeUnknown } from "./Unavailable.js"

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

/** The codes with which a database refuses the values of a statement: a constraint, a trigger, or a value that does not fit. */
const refusals = /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)|2[23]|P0001)/

/**
 * Whether a transaction failed because of the database, such as a full disk, a cancelled statement or a lost connection: it may
 * succeed later. After a refusal of its values, and after a defect of the program, it would fail again.
 */
export const mayPass = (error: unknown): boolean =>
  hasChangedNothing(error) ||
  error instanceof OutcomeUnknown ||
  (isSqlError(error) &&
    !(
      Predicate.hasProperty(error.cause, "code") &&
      typeof error.cause.code === "string" &&
      refusals.test(error.cause.code)
    ))

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
