import type { SqlConnection, SqlError } from "@effect/sql"
import { Context, type Effect } from "effect"

/** The connection that writes, for what is the engine's own: its settings, its log and its statistics. */
export class SqliteWriter extends Context.Tag("@coffer/server/SqliteWriter")<
  SqliteWriter,
  {
    readonly connection: SqlConnection.Connection
    /** Runs what belongs to no transaction while none is open, and lets none begin meanwhile. */
    readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
  }
>() {}
