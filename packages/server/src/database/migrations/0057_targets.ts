import type { Migration } from "../Migration.js"

/**
 * Places on other platforms that secrets are pushed to, and the keys there that this server wrote. `push_token` counts the pushes that
 * began, and only the last one may go on; it has until `push_until`. A key without a digest was sent, and perhaps not taken. Older
 * servers do not know the tables, and push nothing.
 */
export const targets: Migration = {
  name: "targets",
  statements: [
    `CREATE TABLE targets (
      id TEXT PRIMARY KEY,
      env_id TEXT NOT NULL REFERENCES environments (id),
      name TEXT NOT NULL,
      kind TEXT NOT NULL,
      credential_key TEXT NOT NULL,
      terms TEXT NOT NULL,
      pushed_revision INTEGER,
      pushed_at TEXT,
      push_token INTEGER NOT NULL DEFAULT 0,
      push_until INTEGER,
      created_by TEXT NOT NULL,
      creator_id TEXT NOT NULL,
      created_at TEXT NOT NULL,
      UNIQUE (env_id, name)
    ) STRICT`,
    `CREATE TABLE target_keys (
      target_id TEXT NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      secret_key TEXT NOT NULL,
      digest TEXT,
      pushed_at TEXT NOT NULL,
      PRIMARY KEY (target_id, name)
    ) STRICT, WITHOUT ROWID`
  ]
}
