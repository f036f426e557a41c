import type { Migration } from "../Migration.js"

/**
 * The management of people by a directory (SCIM 2.0). `scim_users` are the people whom it lists: each speaks for the membership of its
 * address. `scim_groups` are the groups whose members it alone changes, and `scim_group_members` whom it lists in them: those who are
 * members of the organization are in `group_members` too. `scim_endings` are what a membership had when the directory ended it. A
 * token with `expires_at` was replaced.
 */
export const scim: Migration = {
  name: "scim",
  statements: [
    `CREATE TABLE scim_tokens (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      token_hash TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at TEXT NOT NULL,
      last_used_at TEXT,
      expires_at INTEGER
    ) STRICT`,
    "CREATE INDEX scim_tokens_by_org ON scim_tokens (org_id)",
    `CREATE TABLE scim_users (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      email TEXT NOT NULL,
      name_key TEXT NOT NULL,
      external_id TEXT,
      attributes TEXT NOT NULL,
      revision INTEGER NOT NULL,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT`,
    "CREATE UNIQUE INDEX scim_users_by_email ON scim_users (org_id, email)",
    "CREATE UNIQUE INDEX scim_users_by_name ON scim_users (org_id, name_key)",
    "CREATE INDEX scim_users_by_external_id ON scim_users (org_id, external_id)",
    "CREATE INDEX scim_users_in_order ON scim_users (org_id, id)",
    `CREATE TABLE scim_groups (
      id TEXT PRIMARY KEY REFERENCES groups (id),
      org_id TEXT NOT NULL REFERENCES organizations (id),
      display_name TEXT NOT NULL,
      name_key TEXT NOT NULL,
      external_id TEXT,
      revision INTEGER NOT NULL
    ) STRICT`,
    "CREATE UNIQUE INDEX scim_groups_by_name ON scim_groups (org_id, name_key)",
    `CREATE TABLE scim_group_members (
      group_id TEXT NOT NULL REFERENCES scim_groups (id),
      scim_user_id TEXT NOT NULL REFERENCES scim_users (id),
      PRIMARY KEY (group_id, scim_user_id)
    ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX scim_group_members_of_user ON scim_group_members (scim_user_id)",
    `CREATE TABLE scim_endings (
      org_id TEXT NOT NULL REFERENCES organizations (id),
      email TEXT NOT NULL,
      role TEXT NOT NULL,
      ended_at TEXT NOT NULL,
      rules TEXT NOT NULL,
      groups TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      PRIMARY KEY (org_id, email)
    ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX scim_endings_ending ON scim_endings (expires_at)"
  ]
}
