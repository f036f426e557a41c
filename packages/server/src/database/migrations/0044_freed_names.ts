import type { Migration } from "../Migration.js"

/**
 * Names under which consumers read a protected environment, and that its organization, project or environment no longer has:
 * whoever takes one needs votes until `expires_at`, in milliseconds since 1970. `place_id` had the name, and the votes are those of
 * `env_id`. An older server would give such a name to anybody.
 */
export const freedNames: Migration = {
  name: "freed_names",
  raisesMinReader: true,
  statements: [
    `CREATE TABLE freed_names (
      kind TEXT NOT NULL CHECK (kind IN ('org', 'project', 'env')),
      parent_id TEXT NOT NULL,
      name TEXT NOT NULL,
      place_id TEXT NOT NULL,
      env_id TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      PRIMARY KEY (kind, parent_id, name)
    ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX freed_names_ending ON freed_names (expires_at)"
  ]
}
