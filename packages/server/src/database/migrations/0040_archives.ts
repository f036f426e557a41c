import type { Migration } from "../Migration.js"

/**
 * Organizations that are taken out, and those that are brought in: hidden as removed ones until all of it is there. `structure` is
 * the part of an archive that becomes rows at the end, and `import_use_people` the people of use rules, who are no members before. The
 * times are in milliseconds since 1970. Older servers do not know the tables.
 */
export const archives: Migration = {
  name: "archives",
  statements: [
    `CREATE TABLE exports (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      versions INTEGER NOT NULL CHECK (versions IN (0, 1)),
      created_by TEXT NOT NULL,
      approved_by TEXT,
      created_at TEXT NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT`,
    "CREATE INDEX exports_by_org ON exports (org_id, id)",
    "CREATE INDEX exports_ending ON exports (expires_at)",
    `CREATE TABLE imports (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL UNIQUE REFERENCES organizations (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      name TEXT NOT NULL,
      structure TEXT NOT NULL,
      revision INTEGER NOT NULL,
      created_at TEXT NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT`,
    "CREATE INDEX imports_by_user ON imports (user_id)",
    "CREATE INDEX imports_ending ON imports (expires_at)",
    `CREATE TABLE import_use_people (
      org_id TEXT NOT NULL REFERENCES organizations (id),
      rule_id TEXT NOT NULL,
      position INTEGER NOT NULL,
      email TEXT NOT NULL,
      PRIMARY KEY (org_id, rule_id, position)
    ) STRICT, WITHOUT ROWID`
  ]
}
