import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as SqlError from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The writing connection, for SQLite's own maintenance: settings, write-ahead log, statistics. */
export class SqliteWriter extends Context.Tag("@coffer/server/SqliteWriter")<
  SqliteWriter,
  {
    readonly connection: SqlConnection.Connection
    /** Runs an effect outside of any transaction. No transaction is open or can begin meanwhile. */
    readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
  }
>() {}
