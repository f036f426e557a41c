import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { rowsOf } from "./Writer.js"

const CheckpointRow = Schema.Struct({ busy: Schema.Number })

/**
 * Moves the write-ahead log into the database file and empties it, so that what was erased is not left in it. While someone
 * else reads it cannot be emptied: then that is logged, and the hourly maintenance tries again.
 */
export const truncateWriteAheadLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(rowsOf(CheckpointRow)(sql.unsafe("PRAGMA wal_checkpoint(TRUNCATE)")))
  if (row === undefined || row.busy !== 0) {
    yield* Effect.logWarning(
      "the write-ahead log is in use and could not be emptied: what was erased may still be in it"
    )
  }
})
