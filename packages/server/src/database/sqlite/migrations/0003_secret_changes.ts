import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The history of environments: one row per key and revision. Earlier programs did not record undeletes, which also
 * erased the revision of the deletion. Such revisions have no rows; `secret_changes_since` holds the first revision
 * after them, from which on the history is complete.
 */
const statements = [
  `CREATE TABLE secret_changes (
    env_id TEXT NOT NULL REFERENCES environments (id),
    revision INTEGER NOT NULL,
    key TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    change TEXT NOT NULL CHECK (change IN ('created', 'updated', 'deleted', 'undeleted')),
    created_by TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (env_id, revision, key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX secret_changes_by_key ON secret_changes (env_id, key, revision)`,
  `CREATE TABLE secret_changes_since (
    env_id TEXT PRIMARY KEY REFERENCES environments (id),
    revision INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO secret_changes (env_id, revision, key, secret_id, version, change, created_by, created_at)
    SELECT s.env_id, v.revision, s.key, s.id, v.version, CASE v.version WHEN 1 THEN 'created' ELSE 'updated' END,
      v.created_by, v.created_at
    FROM secret_versions v JOIN secrets s ON s.id = v.secret_id`,
  `INSERT INTO secret_changes (env_id, revision, key, secret_id, version, change, created_by, created_at)
    SELECT env_id, removed_revision, key, id, version, 'deleted', NULL, removed_at
    FROM secrets WHERE removed_at IS NOT NULL`,
  // Each revision had a change, so the last revision without a row is the last undelete.
  `INSERT INTO secret_changes_since (env_id, revision)
    SELECT env_id, max(next) - 1 FROM (
      SELECT env_id, revision, lead(revision) OVER (PARTITION BY env_id ORDER BY revision) AS next FROM (
        SELECT id AS env_id, 0 AS revision FROM environments
        UNION SELECT env_id, revision FROM secret_changes
        UNION SELECT id, revision + 1 FROM environments WHERE removed_at IS NULL
      )
    ) WHERE next > revision + 1 GROUP BY env_id`
]

export const secretChanges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
