import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import type * as SqlConnection from "@effect/sql/SqlConnection"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Opens the toolkit's client of a file, and closes it with the scope. A file that cannot be opened is a defect. */
export const clientOf = (filename: string, options: { readonly readonly?: boolean } = {}) =>
  SqliteClient.make({
    ...options,
    filename,
    // `setPragmas` enables the write-ahead log, and checks it.
    disableWAL: true,
    prepareCacheSize: 500,
    prepareCacheTTL: Duration.infinity
  })

/**
 * Takes the only connection of a client, which is unusable afterwards. Statements are uninterruptible: if a fiber were
 * interrupted while its statement is prepared, the toolkit's cache would make all later uses of that statement wait.
 */
export const connectionOf = (client: SqliteClient.SqliteClient) =>
  Effect.map(Effect.orDie(client.reserve), (reserved): SqlConnection.Connection => ({
    ...reserved,
    execute: (text, parameters, transform) => Effect.uninterruptible(reserved.execute(text, parameters, transform))
  }))
