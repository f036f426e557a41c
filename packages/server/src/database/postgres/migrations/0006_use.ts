/** The permission `use`, use rules and approvals: as on SQLite. */
export const use: ReadonlyArray<string> = [
  `ALTER TABLE acl_rules DROP CONSTRAINT acl_rules_permission_check`,
  `ALTER TABLE acl_rules ADD CONSTRAINT acl_rules_permission_check
    CHECK (permission IN ('use', 'read', 'write', 'admin'))`,
  `CREATE TABLE use_rules (
    id TEXT COLLATE "C" PRIMARY KEY,
    secret_id TEXT COLLATE "C" NOT NULL REFERENCES secrets (id),
    terms TEXT COLLATE "C" NOT NULL,
    per_minute BIGINT NOT NULL,
    per_day BIGINT NOT NULL,
    minute_at BIGINT NOT NULL,
    minute_count BIGINT NOT NULL,
    day_at BIGINT NOT NULL,
    day_count BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE INDEX use_rules_of_secret ON use_rules (secret_id, id) WHERE removed_at IS NULL`,
  `CREATE TABLE approvals (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    env_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id),
    actor_id TEXT COLLATE "C" NOT NULL,
    actor_name TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'approved', 'refused', 'used')),
    decided_by TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX approvals_by_org ON approvals (org_id, id)`,
  `CREATE INDEX approvals_by_actor ON approvals (env_id, actor_id, hash)`,
  `CREATE INDEX approvals_by_age ON approvals (created_at)`
]
