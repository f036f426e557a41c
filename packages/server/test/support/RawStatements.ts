import * as Reactivity from "@effect/experimental/Reactivity"
import { Transaction } from "@coffer/server/database/Database"
import { SqliteWriter } from "@coffer/server/database/sqlite/SqliteWriter"
import { SqlClient, type SqlConnection, type SqlError, Statement } from "@effect/sql"
import { Effect, Layer, Option } from "effect"

/** A connection whose statements are those of the open transaction, or of none: these run as `alone` says. */
export const joining = (
  connection: SqlConnection.Connection,
  alone: <A>(statement: Effect.Effect<A, SqlError.SqlError>) => Effect.Effect<A, SqlError.SqlError>
): SqlConnection.Connection => ({
  ...connection,
  execute: (text, parameters, transform) =>
    Effect.flatMap(
      Effect.serviceOption(Transaction),
      Option.match({
        onNone: () => alone(connection.execute(text, parameters, transform)),
        onSome: ([open]) => open.connection.execute(text, parameters, transform)
      })
    )
})

/** Raw statements of a test on the server's own connection that writes: of the open transaction, or of none. */
export const RawStatements = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(SqliteWriter, ({ alone, connection }) =>
    SqlClient.make({
      acquirer: Effect.succeed(joining(connection, alone)),
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: []
    })
  )
).pipe(Layer.provide(Reactivity.layer))
