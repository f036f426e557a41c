import type { Migration } from "../Migration.js"

/**
 * Targets to which the server pushes by itself, by the rights of `pusher_id`. `target_sources` has the environments whose values the
 * last push has, with their revisions then: a target is due once one of them has another. `retry_at` and `mailed_at` are compared
 * with the database's clock. Older servers do not know the columns, and push only when they are asked to.
 */
export const automaticPushes: Migration = {
  name: "automatic_pushes",
  statements: [
    "ALTER TABLE targets ADD COLUMN automatic TEXT NOT NULL DEFAULT 'off'",
    "ALTER TABLE targets ADD COLUMN pusher_id TEXT",
    "ALTER TABLE targets ADD COLUMN failures INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE targets ADD COLUMN problem TEXT",
    "ALTER TABLE targets ADD COLUMN retry_at INTEGER",
    "ALTER TABLE targets ADD COLUMN paused TEXT",
    "ALTER TABLE targets ADD COLUMN mailed_at INTEGER",
    "CREATE INDEX targets_automatic ON targets (id) WHERE automatic <> 'off' AND paused IS NULL",
    `CREATE TABLE target_sources (
      target_id TEXT NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
      env_id TEXT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      revision INTEGER NOT NULL,
      PRIMARY KEY (target_id, env_id)
    ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX target_sources_by_env ON target_sources (env_id)"
  ]
}
