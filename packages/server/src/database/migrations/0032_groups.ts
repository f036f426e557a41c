import type { Migration } from "../Migration.js"

const kinds = "CHECK (subject_type IN ('user', 'service_account', 'group'))"

/**
 * Groups, their members, and access rules about them. SQLite cannot change a CHECK, so the table is made again. An older server cannot
 * read rules about groups.
 */
export const groups: Migration = {
  name: "groups",
  raisesMinReader: true,
  statements: [
    `CREATE TABLE groups (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      name TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      removed_at TEXT
    ) STRICT`,
    `CREATE UNIQUE INDEX groups_live ON groups (org_id, name) WHERE removed_at IS NULL`,
    `CREATE TABLE group_members (
      user_id TEXT NOT NULL REFERENCES users (id),
      org_id TEXT NOT NULL REFERENCES organizations (id),
      group_id TEXT NOT NULL REFERENCES groups (id),
      added_by TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (user_id, org_id, group_id)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX group_members_of_group ON group_members (group_id, user_id)`,
    {
      sqlite: `CREATE TABLE acl_rules_of_groups (
        id TEXT PRIMARY KEY,
        org_id TEXT NOT NULL REFERENCES organizations (id),
        subject_type TEXT NOT NULL ${kinds},
        subject_id TEXT NOT NULL,
        project_pattern TEXT NOT NULL,
        env_pattern TEXT NOT NULL,
        permission TEXT NOT NULL CHECK (permission IN ('use', 'read', 'write', 'admin')),
        created_by TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        removed_at TEXT,
        expires_at INTEGER
      ) STRICT`,
      postgres: `ALTER TABLE acl_rules DROP CONSTRAINT acl_rules_subject_type_check`
    },
    {
      sqlite: `INSERT INTO acl_rules_of_groups (id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission,
          created_by, created_at, updated_at, removed_at, expires_at)
        SELECT id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, created_by, created_at,
          updated_at, removed_at, expires_at FROM acl_rules`,
      postgres: `ALTER TABLE acl_rules ADD CONSTRAINT acl_rules_subject_type_check ${kinds}`
    },
    { sqlite: `DROP TABLE acl_rules` },
    { sqlite: `ALTER TABLE acl_rules_of_groups RENAME TO acl_rules` },
    {
      sqlite: `CREATE UNIQUE INDEX acl_rules_live ON acl_rules (subject_id, org_id, project_pattern, env_pattern)
        WHERE removed_at IS NULL`
    },
    { sqlite: `CREATE INDEX acl_rules_by_org ON acl_rules (org_id, id) WHERE removed_at IS NULL` },
    {
      sqlite: `CREATE INDEX acl_rules_ending ON acl_rules (expires_at, id) WHERE removed_at IS NULL AND expires_at IS NOT NULL`
    }
  ]
}
