import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { rowsOf } from "./Writer.js"

/** How long a statement waits for a lock of another connection. */
export const busyTimeoutMillis = 5000

const CheckpointRow = Schema.Struct({ busy: Schema.Number })

/**
 * Moves the write-ahead log into the database file and empties it, so that what was erased is not left in it. While someone
 * else reads it cannot be emptied: then that is logged, and the hourly maintenance tries again.
 */
export const truncateWriteAheadLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The driver waits on the main thread: a snapshot that reads for long must not stop the server for the whole time-out.
  const [row] = yield* Effect.orDie(
    Effect.acquireUseRelease(
      sql.unsafe("PRAGMA busy_timeout = 0"),
      () => rowsOf(CheckpointRow)(sql.unsafe("PRAGMA wal_checkpoint(TRUNCATE)")),
      () => Effect.orDie(sql.unsafe(`PRAGMA busy_timeout = ${busyTimeoutMillis}`))
    )
  )
  if (row === undefined || row.busy !== 0) {
    yield* Effect.logWarning(
      "the write-ahead log is in use and could not be emptied: what was erased may still be in it"
    )
  }
})
