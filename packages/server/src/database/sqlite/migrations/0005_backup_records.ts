import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The restores of a database: one row per restored backup or applied file. `applied_at` is null until the restored file
 * becomes the live database. A restore also creates this table in backups of older schemas.
 */
export const createRestores = `CREATE TABLE IF NOT EXISTS restores (
    backup_id TEXT,
    backup_created_at TEXT NOT NULL,
    restored_at TEXT NOT NULL,
    applied_at TEXT
  ) STRICT`

/** The last restore drill of each backup. */
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
