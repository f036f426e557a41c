import type { Migration } from "../Migration.js"

/**
 * Parts of people's rights for agents and scripts. `keys` is a JSON list, or null for all keys. A row goes when the delegation is
 * revoked or has ended: the audit log keeps what it did. Older servers do not know the table.
 */
export const delegations: Migration = {
  name: "delegations",
  statements: [
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
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      last_used_at TEXT
    ) STRICT`,
    "CREATE INDEX delegations_by_person ON delegations (user_id, created_at)",
    "CREATE INDEX delegations_by_end ON delegations (expires_at)"
  ]
}
