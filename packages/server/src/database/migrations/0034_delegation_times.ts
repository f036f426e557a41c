import type { Migration } from "../Migration.js"

/**
 * The times by which a delegation ends in milliseconds since 1970, since they are compared with the database's clock. No delegation
 * lasts longer than a few days: the old ones end here, and are asked for again. An older server writes texts.
 */
export const delegationTimes: Migration = {
  name: "delegation_times",
  raisesMinReader: true,
  statements: [
    "DROP TABLE delegations",
    `CREATE TABLE delegations (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id),
      org_id TEXT NOT NULL REFERENCES organizations (id),
      env_id TEXT NOT NULL REFERENCES environments (id),
      name TEXT NOT NULL,
      token_hash TEXT NOT NULL UNIQUE,
      permission TEXT NOT NULL CHECK (permission IN ('use', 'read', 'write')),
      reveal INTEGER NOT NULL CHECK (reveal IN (0, 1)),
      keys TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      last_used_at TEXT
    ) STRICT`,
    "CREATE INDEX delegations_by_person ON delegations (user_id, created_at)",
    "CREATE INDEX delegations_by_end ON delegations (expires_at)",
    "CREATE INDEX delegations_by_creation ON delegations (created_at)"
  ]
}
