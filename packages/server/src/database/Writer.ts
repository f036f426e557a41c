import { Effect, type Schema } from "effect"
import { Statements } from "./Client.js"
import { rowsThatFit } from "./Rows.js"
import { isSqlError } from "./SqlErrors.js"

/** Rows of a statement on the writing connection; one that does not fit is a defect. */
export const rowsOf = <A, I>(row: Schema.Schema<A, I>) => {
  const fitting = rowsThatFit(row)
  return <E>(statement: Effect.Effect<ReadonlyArray<unknown>, E>): Effect.Effect<ReadonlyArray<A>, E> =>
    Effect.flatMap(statement, (found) => {
      const rows = fitting(found)
      return rows === undefined ? Effect.dieMessage("a row does not fit its schema") : Effect.succeed(rows)
    })
}

/**
 * Runs a change as one transaction: all of it or nothing. A failure of the database itself is a defect; the errors that a
 * rule raises roll the change back and go on to the caller.
 */
export const transaction = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Statements, (statements) => statements.transaction(change)).pipe(
    Effect.catchIf(isSqlError, (error) => Effect.die(error))
  )
