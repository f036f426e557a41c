import type { SqlConnection, SqlError } from "@effect/sql"
import { Context, type Effect } from "effect"

/** The writing connection, for SQLite's own maintenance: settings, write-ahead log, statistics. */
export class SqliteWriter extends Context.Tag("@coffer/server/SqliteWriter")<
  SqliteWriter,
  {
    readonly connection: SqlConnection.Connection
    /** Runs an effect outside of any transaction. No transaction is open or can begin meanwhile. */
    readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
  }
>() {}
