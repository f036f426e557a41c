import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The permission `use`, rules of what secrets are used for without being shown, and requests that wait for a person. SQLite
 * cannot change a CHECK, so the table of access rules is written anew. `terms` and `request` are JSON. The counters of a rule
 * are those of the minute and the day (since 1970) that they name.
 */
const statements = [
  `CREATE TABLE acl_rules_with_use (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    subject_type TEXT NOT NULL CHECK (subject_type IN ('user', 'service_account')),
    subject_id TEXT NOT NULL,
    project_pattern TEXT NOT NULL,
    env_pattern TEXT NOT NULL,
    permission TEXT NOT NULL CHECK (permission IN ('use', 'read', 'write', 'admin')),
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `INSERT INTO acl_rules_with_use (id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, created_by,
      created_at, updated_at, removed_at)
    SELECT id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, created_by, created_at, updated_at,
      removed_at FROM acl_rules`,
  `DROP TABLE acl_rules`,
  `ALTER TABLE acl_rules_with_use RENAME TO acl_rules`,
  `CREATE UNIQUE INDEX acl_rules_live ON acl_rules (subject_id, org_id, project_pattern, env_pattern)
    WHERE removed_at IS NULL`,
  `CREATE INDEX acl_rules_by_org ON acl_rules (org_id, id) WHERE removed_at IS NULL`,
  `CREATE TABLE use_rules (
    id TEXT PRIMARY KEY,
    secret_id TEXT NOT NULL REFERENCES secrets (id),
    terms TEXT NOT NULL,
    per_minute INTEGER NOT NULL,
    per_day INTEGER NOT NULL,
    minute_at INTEGER NOT NULL,
    minute_count INTEGER NOT NULL,
    day_at INTEGER NOT NULL,
    day_count INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE INDEX use_rules_of_secret ON use_rules (secret_id, id) WHERE removed_at IS NULL`,
  `CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    env_id TEXT NOT NULL REFERENCES environments (id),
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    hash TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'refused', 'used')),
    decided_by TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX approvals_by_org ON approvals (org_id, id)`,
  `CREATE INDEX approvals_by_actor ON approvals (env_id, actor_id, hash)`,
  `CREATE INDEX approvals_by_age ON approvals (created_at)`
]

export const use = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
