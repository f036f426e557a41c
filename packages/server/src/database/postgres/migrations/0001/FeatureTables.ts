/**
 * The tables of the features. Ids are text, and timestamps are ISO 8601. Text is compared by bytes. A removed record keeps its
 * row; unique indexes cover live records only. Integers have 64 bits, as on SQLite.
 */
export const featureTables: ReadonlyArray<string> = [
  `CREATE TABLE instance (
    id TEXT COLLATE "C" PRIMARY KEY,
    epoch TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE TABLE wrapped_keys (
    name TEXT COLLATE "C" PRIMARY KEY,
    format BIGINT NOT NULL,
    kek_id TEXT COLLATE "C" NOT NULL,
    nonce BYTEA NOT NULL,
    ciphertext BYTEA NOT NULL
  )`,

  `CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    email TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT COLLATE "C" NOT NULL,
    superadmin BIGINT NOT NULL DEFAULT 0 CHECK (superadmin IN (0, 1)),
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    disabled_at TEXT COLLATE "C",
    last_seen_at TEXT COLLATE "C"
  )`,
  `CREATE INDEX users_disabled ON users (email) WHERE disabled_at IS NOT NULL`,
  `CREATE TABLE login_codes (
    id TEXT COLLATE "C" PRIMARY KEY,
    email TEXT COLLATE "C" NOT NULL,
    mac BYTEA NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'claimed', 'replaced')),
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE UNIQUE INDEX login_codes_pending ON login_codes (email) WHERE state = 'pending'`,
  `CREATE INDEX login_codes_by_email ON login_codes (email, created_at)`,
  `CREATE INDEX login_codes_by_age ON login_codes (created_at)`,
  `CREATE TABLE login_failures (
    id TEXT COLLATE "C" PRIMARY KEY,
    email TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX login_failures_by_email ON login_failures (email, created_at)`,
  `CREATE INDEX login_failures_by_age ON login_failures (created_at)`,
  `CREATE TABLE rate_events (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX rate_events_by_subject ON rate_events (kind, subject, created_at)`,
  `CREATE INDEX rate_events_by_age ON rate_events (created_at)`,
  `CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    ip_address TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX sessions_by_user ON sessions (user_id)`,
  `CREATE INDEX sessions_by_age ON sessions (created_at)`,

  `CREATE TABLE organizations (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL DEFAULT 0,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX organizations_live ON organizations (name) WHERE removed_at IS NULL`,
  `CREATE TABLE members (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role TEXT COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'member')),
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX members_live ON members (org_id, user_id) WHERE removed_at IS NULL`,
  `CREATE INDEX members_by_user ON members (user_id) WHERE removed_at IS NULL`,
  `CREATE TABLE projects (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    name TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL DEFAULT 0,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX projects_live ON projects (org_id, name) WHERE removed_at IS NULL`,
  `CREATE TABLE environments (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    name TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL DEFAULT 0,
    secret_count BIGINT NOT NULL DEFAULT 0,
    value_bytes BIGINT NOT NULL DEFAULT 0,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX environments_live ON environments (project_id, name) WHERE removed_at IS NULL`,

  `CREATE TABLE secrets (
    id TEXT COLLATE "C" PRIMARY KEY,
    env_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id),
    key TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C",
    removed_revision BIGINT
  )`,
  `CREATE UNIQUE INDEX secrets_live ON secrets (env_id, key) WHERE removed_at IS NULL`,
  `CREATE INDEX secrets_removed ON secrets (env_id, key, removed_revision) WHERE removed_at IS NOT NULL`,
  `CREATE TABLE secret_versions (
    secret_id TEXT COLLATE "C" NOT NULL REFERENCES secrets (id),
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    format BIGINT NOT NULL,
    kek_id TEXT COLLATE "C" NOT NULL,
    wrapped_key BYTEA,
    value_bytes BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    destroyed_at TEXT COLLATE "C",
    ciphertext BYTEA NOT NULL,
    PRIMARY KEY (secret_id, version),
    CHECK ((wrapped_key IS NULL) = (destroyed_at IS NOT NULL))
  )`,
  `CREATE INDEX secret_versions_by_kek ON secret_versions (kek_id, secret_id, version)`,
  // Ciphertexts do not compress.
  `ALTER TABLE secret_versions ALTER COLUMN ciphertext SET STORAGE EXTERNAL`,
  `CREATE TABLE secret_changes (
    env_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id),
    revision BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    secret_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    change TEXT COLLATE "C" NOT NULL CHECK (change IN ('created', 'updated', 'deleted', 'undeleted')),
    created_by TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (env_id, revision, key)
  )`,
  `CREATE INDEX secret_changes_by_key ON secret_changes (env_id, key, revision)`,
  `CREATE TABLE secret_changes_since (
    env_id TEXT COLLATE "C" PRIMARY KEY REFERENCES environments (id),
    revision BIGINT NOT NULL
  )`,

  `CREATE TABLE acl_rules (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    subject_type TEXT COLLATE "C" NOT NULL CHECK (subject_type IN ('user', 'service_account')),
    subject_id TEXT COLLATE "C" NOT NULL,
    project_pattern TEXT COLLATE "C" NOT NULL,
    env_pattern TEXT COLLATE "C" NOT NULL,
    permission TEXT COLLATE "C" NOT NULL CHECK (permission IN ('read', 'write', 'admin')),
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX acl_rules_live ON acl_rules (subject_id, org_id, project_pattern, env_pattern)
    WHERE removed_at IS NULL`,
  `CREATE INDEX acl_rules_by_org ON acl_rules (org_id, id) WHERE removed_at IS NULL`,
  `CREATE TABLE service_accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    project_id TEXT COLLATE "C" REFERENCES projects (id),
    name TEXT COLLATE "C" NOT NULL,
    reveal BIGINT NOT NULL CHECK (reveal IN (0, 1)),
    expires_in_days BIGINT,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C",
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX service_accounts_live ON service_accounts (org_id, name) WHERE removed_at IS NULL`,
  `CREATE INDEX service_accounts_by_creator ON service_accounts (created_by) WHERE removed_at IS NULL`,
  `CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    service_account_id TEXT COLLATE "C" NOT NULL REFERENCES service_accounts (id),
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    hint TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C",
    replaced_at TEXT COLLATE "C",
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX api_keys_current ON api_keys (service_account_id)
    WHERE replaced_at IS NULL AND removed_at IS NULL`,
  `CREATE INDEX api_keys_by_account ON api_keys (service_account_id)`,

  // Erasures that wait for VACUUM.
  `CREATE TABLE erasures (
    id TEXT COLLATE "C" PRIMARY KEY,
    created_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE TABLE restores (
    backup_id TEXT COLLATE "C",
    backup_created_at TEXT COLLATE "C" NOT NULL,
    restored_at TEXT COLLATE "C" NOT NULL,
    applied_at TEXT COLLATE "C"
  )`,
  `CREATE TABLE drills (
    backup_id TEXT COLLATE "C" PRIMARY KEY,
    drilled_at TEXT COLLATE "C" NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    valid BIGINT NOT NULL CHECK (valid IN (0, 1))
  )`,

  `CREATE TABLE jobs (
    name TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    until TEXT COLLATE "C",
    token BIGINT NOT NULL,
    PRIMARY KEY (name, bucket)
  )`,
  `CREATE TABLE instances (
    id TEXT COLLATE "C" PRIMARY KEY,
    host TEXT COLLATE "C" NOT NULL,
    pid BIGINT NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    schema BIGINT NOT NULL,
    started_at TEXT COLLATE "C" NOT NULL,
    seen_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE TABLE wrap_counts (
    kek_id TEXT COLLATE "C" PRIMARY KEY,
    versions BIGINT NOT NULL,
    counted_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE TABLE stream_places (
    target TEXT COLLATE "C" NOT NULL,
    log TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (target, log)
  )`
]
