import type { Migration } from "../Migration.js"

/**
 * Which groups of the provider stand for which groups of an organization, and which of them a person's last login brought, until a
 * time in milliseconds since 1970. A membership is a join of both: it ends with its mapping. Older servers do not know the tables.
 */
export const loginGroups: Migration = {
  name: "login_groups",
  statements: [
    `CREATE TABLE group_mappings (
      org_id TEXT NOT NULL REFERENCES organizations (id),
      provider_group TEXT NOT NULL,
      group_id TEXT NOT NULL REFERENCES groups (id),
      PRIMARY KEY (org_id, provider_group, group_id)
    ) STRICT, WITHOUT ROWID`,
    "CREATE UNIQUE INDEX group_mappings_of_group ON group_mappings (group_id, provider_group)",
    `CREATE TABLE login_groups (
      user_id TEXT NOT NULL REFERENCES users (id),
      org_id TEXT NOT NULL REFERENCES organizations (id),
      provider_group TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      PRIMARY KEY (user_id, org_id, provider_group)
    ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX login_groups_of_group ON login_groups (org_id, provider_group, user_id)",
    "CREATE INDEX login_groups_ending ON login_groups (expires_at)"
  ]
}
