import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"

interface Guard {
  /** Returns the error to refuse a statement with; null if the statement may run. */
  readonly refusal: (parameters: ReadonlyArray<unknown>) => SqlError.SqlError | null
  readonly onFailure: (error: SqlError.SqlError) => void
}

/** A connection that asks before each statement whether it may run, and reports each failed statement. */
export const guardedConnection = (
  connection: SqlConnection.Connection,
  { onFailure, refusal }: Guard
): SqlConnection.Connection => {
  const guarded =
    (execute: SqlConnection.Connection["execute"]): SqlConnection.Connection["execute"] =>
    (text, parameters, transform) =>
      Effect.suspend(() => {
        const refused = refusal(parameters)
        if (refused !== null) return Effect.fail(refused)
        return Effect.tapError(execute(text, parameters, transform), (error) => Effect.sync(() => onFailure(error)))
      })
  return {
    ...connection,
    execute: guarded(connection.execute),
    executeUnprepared: guarded(connection.executeUnprepared)
  }
}
