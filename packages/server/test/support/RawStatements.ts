import * as Reactivity from "@effect/experimental/Reactivity"
import { Transaction } from "@coffer/server/database/Database"
import { SqliteWriter } from "@coffer/server/database/sqlite/SqliteWriter"
import { SqlClient, type SqlConnection, Statement } from "@effect/sql"
import { Effect, Layer, Option } from "effect"

/** Raw statements of a test on the server's own connection that writes: of the open transaction, or of none. */
export const RawStatements = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(SqliteWriter, ({ alone, connection }) => {
    const joining: SqlConnection.Connection = {
      ...connection,
      execute: (text, parameters, transform) =>
        Effect.flatMap(
          Effect.serviceOption(Transaction),
          Option.match({
            onNone: () => alone(connection.execute(text, parameters, transform)),
            onSome: ([open]) => open.connection.execute(text, parameters, transform)
          })
        )
    }
    return SqlClient.make({
      acquirer: Effect.succeed(joining),
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: []
    })
  })
).pipe(Layer.provide(Reactivity.layer))
