import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * The restores that a database went through: a row for each backup that it was restored from, or each file that was applied.
 * `applied_at` is null while the restored file is not the live database yet. A restore writes the table into a backup of an
 * older schema, too.
 */
export const createRestores = `CREATE TABLE IF NOT EXISTS restores (
    backup_id TEXT,
    backup_created_at TEXT NOT NULL,
    restored_at TEXT NOT NULL,
    applied_at TEXT
  ) STRICT`

/** The last drill of each backup. */
const createDrills = `CREATE TABLE drills (
    backup_id TEXT PRIMARY KEY,
    drilled_at TEXT NOT NULL,
    seconds REAL NOT NULL,
    valid INTEGER NOT NULL CHECK (valid IN (0, 1))
  ) STRICT`

export const backupRecords = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(createRestores)
  yield* sql.unsafe(createDrills)
})
