import type { Migration } from "../Migration.js"

/**
 * When an environment ends, in milliseconds since 1970: it is compared with the database's clock. Null: it lasts. `announced_end` is
 * the end that was announced last, and `source_id` the environment that it was created from. `previews` has what those who write in
 * a project may create themselves. An older server would take an environment that has ended for one that lasts.
 */
export const previews: Migration = {
  name: "previews",
  raisesMinReader: true,
  statements: [
    "ALTER TABLE environments ADD COLUMN expires_at INTEGER",
    "ALTER TABLE environments ADD COLUMN announced_end INTEGER",
    "ALTER TABLE environments ADD COLUMN source_id TEXT",
    `CREATE INDEX environments_ending ON environments (expires_at, id) WHERE removed_at IS NULL AND expires_at IS NOT NULL`,
    `CREATE TABLE previews (
      project_id TEXT PRIMARY KEY REFERENCES projects (id),
      source_id TEXT NOT NULL REFERENCES environments (id),
      pattern TEXT NOT NULL,
      max INTEGER NOT NULL,
      longest TEXT NOT NULL,
      updated_by TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT`
  ]
}
