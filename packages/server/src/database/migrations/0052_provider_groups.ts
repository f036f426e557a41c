import type { Migration } from "../Migration.js"

/**
 * The groups that a person's last login brought, once for all organizations: a row of `login_groups` counts only beside its name here.
 * So a login takes rights away everywhere in one small transaction, and writes `login_groups` in steps. `group_logins` has a row for
 * each login whose steps are not complete. Older servers read and write `login_groups` alone: a name that only a login there brought
 * counts on newer servers from the next login on.
 */
export const providerGroups: Migration = {
  name: "provider_groups",
  statements: [
    `CREATE TABLE provider_groups (
    user_id TEXT NOT NULL REFERENCES users (id),
    provider_group TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, provider_group)
  ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX provider_groups_ending ON provider_groups (expires_at)",
    `INSERT INTO provider_groups (user_id, provider_group, expires_at)
    SELECT user_id, provider_group, max(expires_at) FROM login_groups GROUP BY user_id, provider_group`,
    `CREATE TABLE group_logins (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    logged_in_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    after_org TEXT NOT NULL
  ) STRICT`,
    // A login reads which of the provider's groups any organization maps, and the memberships of a person in order.
    "CREATE INDEX group_mappings_by_name ON group_mappings (provider_group)",
    "DROP INDEX members_by_user",
    "CREATE INDEX members_by_user ON members (user_id, org_id) WHERE removed_at IS NULL"
  ]
}
