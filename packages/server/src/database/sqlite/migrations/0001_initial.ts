import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Ids are text, and timestamps are ISO 8601. A removed record keeps its row; unique indexes cover live records only.
 * The audit tables are complete from the start, because their entries cannot be backfilled.
 */
const statements = [
  `CREATE TABLE instance (
    id TEXT PRIMARY KEY,
    epoch TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE wrapped_keys (
    name TEXT PRIMARY KEY,
    format INTEGER NOT NULL,
    kek_id TEXT NOT NULL,
    nonce BLOB NOT NULL,
    ciphertext BLOB NOT NULL
  ) STRICT`,

  `CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    superadmin INTEGER NOT NULL DEFAULT 0 CHECK (superadmin IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE login_codes (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    mac BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'claimed', 'replaced')),
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX login_codes_pending ON login_codes (email) WHERE state = 'pending'`,
  `CREATE INDEX login_codes_by_email ON login_codes (email, created_at)`,
  `CREATE INDEX login_codes_by_age ON login_codes (created_at)`,
  `CREATE TABLE login_failures (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX login_failures_by_email ON login_failures (email, created_at)`,
  `CREATE INDEX login_failures_by_age ON login_failures (created_at)`,
  `CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    token_hash TEXT NOT NULL UNIQUE,
    ip_address TEXT,
    created_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX sessions_by_user ON sessions (user_id)`,
  `CREATE INDEX sessions_by_age ON sessions (created_at)`,

  `CREATE TABLE organizations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX organizations_live ON organizations (name) WHERE removed_at IS NULL`,
  `CREATE TABLE members (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'member')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX members_live ON members (org_id, user_id) WHERE removed_at IS NULL`,
  `CREATE INDEX members_by_user ON members (user_id) WHERE removed_at IS NULL`,
  `CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX projects_live ON projects (org_id, name) WHERE removed_at IS NULL`,
  `CREATE TABLE environments (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    secret_count INTEGER NOT NULL DEFAULT 0,
    value_bytes INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX environments_live ON environments (project_id, name) WHERE removed_at IS NULL`,

  `CREATE TABLE secrets (
    id TEXT PRIMARY KEY,
    env_id TEXT NOT NULL REFERENCES environments (id),
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT,
    removed_revision INTEGER
  ) STRICT`,
  `CREATE UNIQUE INDEX secrets_live ON secrets (env_id, key) WHERE removed_at IS NULL`,
  `CREATE INDEX secrets_removed ON secrets (env_id, key, removed_revision) WHERE removed_at IS NOT NULL`,
  `CREATE TABLE secret_versions (
    secret_id TEXT NOT NULL REFERENCES secrets (id),
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    format INTEGER NOT NULL,
    kek_id TEXT NOT NULL,
    ciphertext BLOB NOT NULL,
    nonce BLOB NOT NULL,
    wrapped_key BLOB,
    key_nonce BLOB,
    value_bytes INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    destroyed_at TEXT,
    PRIMARY KEY (secret_id, version),
    CHECK ((wrapped_key IS NULL) = (destroyed_at IS NOT NULL)),
    CHECK ((key_nonce IS NULL) = (destroyed_at IS NOT NULL))
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX secret_versions_by_kek ON secret_versions (kek_id)`,

  `CREATE TABLE acl_rules (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    subject_type TEXT NOT NULL CHECK (subject_type IN ('user', 'service_account')),
    subject_id TEXT NOT NULL,
    project_pattern TEXT NOT NULL,
    env_pattern TEXT NOT NULL,
    permission TEXT NOT NULL CHECK (permission IN ('read', 'write', 'admin')),
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX acl_rules_live ON acl_rules (subject_id, org_id, project_pattern, env_pattern)
    WHERE removed_at IS NULL`,
  `CREATE INDEX acl_rules_by_org ON acl_rules (org_id) WHERE removed_at IS NULL`,
  `CREATE TABLE service_accounts (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    project_id TEXT REFERENCES projects (id),
    name TEXT NOT NULL,
    reveal INTEGER NOT NULL CHECK (reveal IN (0, 1)),
    expires_in_days INTEGER,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_used_at TEXT,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX service_accounts_live ON service_accounts (org_id, name) WHERE removed_at IS NULL`,
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    service_account_id TEXT NOT NULL REFERENCES service_accounts (id),
    token_hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    replaced_at TEXT,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX api_keys_current ON api_keys (service_account_id)
    WHERE replaced_at IS NULL AND removed_at IS NULL`,
  `CREATE INDEX api_keys_by_account ON api_keys (service_account_id)`,

  `CREATE TABLE audit_entries (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    log TEXT NOT NULL,
    seq INTEGER NOT NULL,
    org_id TEXT,
    actor_type TEXT NOT NULL,
    actor_id TEXT,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT,
    ip_address TEXT,
    metadata TEXT NOT NULL,
    created_at TEXT NOT NULL,
    chain TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX audit_entries_by_seq ON audit_entries (log, seq)`,
  `CREATE INDEX audit_entries_by_action ON audit_entries (log, action, seq)`,
  `CREATE INDEX audit_entries_by_actor ON audit_entries (log, actor_id, seq)`,
  `CREATE INDEX audit_entries_by_resource ON audit_entries (log, resource_type, seq)`,
  `CREATE INDEX audit_entries_of_action ON audit_entries (action, position)`,
  `CREATE INDEX audit_entries_of_actor ON audit_entries (actor_id, position)`,
  `CREATE INDEX audit_entries_of_resource ON audit_entries (resource_type, position)`,
  `CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
    BEGIN SELECT RAISE(ABORT, 'audit entries are immutable'); END`,
  `CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
    BEGIN SELECT RAISE(ABORT, 'audit entries are immutable'); END`,
  // INSERT OR REPLACE deletes a row without firing the trigger above.
  `CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
    WHEN EXISTS (SELECT 1 FROM audit_entries WHERE log = NEW.log AND seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM audit_entries WHERE position = NEW.position)
    BEGIN SELECT RAISE(ABORT, 'audit entries are immutable'); END`,
  `CREATE TABLE audit_heads (
    log TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    chain TEXT NOT NULL,
    created_at TEXT NOT NULL,
    mac TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE audit_counters (
    log TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (log, actor_id, action, resource_type)
  ) STRICT, WITHOUT ROWID`
]

export const initial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
