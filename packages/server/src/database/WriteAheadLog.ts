import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { rowsOf } from "./Writer.js"

const CheckpointRow = Schema.Struct({ busy: Schema.Number })

/**
 * Moves the write-ahead log into the database file and empties it, so that it stays small and holds nothing of before. While
 * another connection reads, it cannot be emptied: that is logged, and the hourly maintenance tries again.
 */
export const truncateWriteAheadLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(rowsOf(CheckpointRow)(sql.unsafe("PRAGMA wal_checkpoint(TRUNCATE)")))
  if (row === undefined || row.busy !== 0) {
    yield* Effect.logWarning(
      "the write-ahead log is in use and could not be emptied: it is tried again within the hour"
    )
  }
})
