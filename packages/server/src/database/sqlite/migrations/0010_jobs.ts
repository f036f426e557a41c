import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Tables that the servers of one database share: leases of jobs, heartbeats, how many data keys a key-encryption key has
 * wrapped, and places of the audit stream. On SQLite, which has one server, only the third has rows.
 */
const statements = [
  `CREATE TABLE jobs (
    name TEXT NOT NULL,
    bucket TEXT NOT NULL,
    holder TEXT NOT NULL,
    until TEXT,
    token INTEGER NOT NULL,
    PRIMARY KEY (name, bucket)
  ) STRICT`,
  `CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    version TEXT NOT NULL,
    schema INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    seen_at TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE wrap_counts (
    kek_id TEXT PRIMARY KEY,
    versions INTEGER NOT NULL,
    counted_at TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE stream_places (
    target TEXT NOT NULL,
    log TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (target, log)
  ) STRICT`
]

export const jobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
