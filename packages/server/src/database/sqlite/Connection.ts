import { SqliteClient } from "@effect/sql-sqlite-node"
import type { SqlConnection } from "@effect/sql"
import { Duration, Effect } from "effect"

/** The toolkit's client of a file, closed with the scope. What cannot be opened is a defect. */
export const clientOf = (filename: string, options: { readonly readonly?: boolean } = {}) =>
  SqliteClient.make({
    ...options,
    filename,
    // The write-ahead log is one of the settings that are asserted.
    disableWAL: true,
    prepareCacheSize: 500,
    prepareCacheTTL: Duration.infinity
  })

/**
 * The one connection of a client, which is of no further use then. Its statements cannot be interrupted: they are over at
 * once, but the toolkit's cache of prepared statements would keep all others waiting for one whose fiber is interrupted
 * while it is prepared.
 */
export const connectionOf = (client: SqliteClient.SqliteClient) =>
  Effect.map(Effect.orDie(client.reserve), (reserved): SqlConnection.Connection => ({
    ...reserved,
    execute: (text, parameters, transform) => Effect.uninterruptible(reserved.execute(text, parameters, transform))
  }))
