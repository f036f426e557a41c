import type { Migration } from "../Migration.js"

/**
 * The removed places that can be restored. A row goes when its place is restored or erased; those that were removed before have none.
 * The times are in milliseconds since 1970. `settled` says whether what ends with a removal has ended, and `erasing` that the values go.
 * Older servers do not know the table: what they remove cannot be restored.
 */
export const trash: Migration = {
  name: "trash",
  statements: [
    `CREATE TABLE trash (
      place_id TEXT PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('org', 'project', 'env')),
      org_id TEXT NOT NULL REFERENCES organizations (id),
      project_id TEXT REFERENCES projects (id),
      name TEXT NOT NULL,
      removed_by TEXT NOT NULL,
      removed_at INTEGER NOT NULL,
      restorable_until INTEGER NOT NULL,
      settled INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
      erasing INTEGER NOT NULL DEFAULT 0 CHECK (erasing IN (0, 1))
    ) STRICT`,
    "CREATE INDEX trash_by_place ON trash (org_id, kind, project_id, removed_at)",
    "CREATE INDEX trash_by_name ON trash (name) WHERE kind = 'org'",
    "CREATE INDEX trash_ending ON trash (restorable_until)",
    "CREATE INDEX trash_unfinished ON trash (place_id) WHERE settled = 0 OR erasing = 1",
    // Of live and removed ones: what is in a removed place.
    "CREATE INDEX environments_of_project ON environments (project_id)",
    "CREATE INDEX projects_of_org ON projects (org_id)"
  ]
}
