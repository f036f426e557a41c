/** Federations, by which service accounts sign in without a stored key, and their sessions: as on SQLite. */
export const federations: ReadonlyArray<string> = [
  `CREATE TABLE federations (
    id TEXT COLLATE "C" PRIMARY KEY,
    service_account_id TEXT COLLATE "C" NOT NULL REFERENCES service_accounts (id),
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    name TEXT COLLATE "C" NOT NULL,
    issuer TEXT COLLATE "C" NOT NULL,
    audience TEXT COLLATE "C" NOT NULL,
    jwks TEXT COLLATE "C",
    conditions TEXT COLLATE "C" NOT NULL,
    max_age BIGINT NOT NULL,
    ttl BIGINT NOT NULL,
    expires_at TEXT COLLATE "C",
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C",
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE UNIQUE INDEX federations_live ON federations (service_account_id, name) WHERE removed_at IS NULL`,
  `CREATE TABLE federated_sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    federation_id TEXT COLLATE "C" NOT NULL REFERENCES federations (id),
    service_account_id TEXT COLLATE "C" NOT NULL REFERENCES service_accounts (id),
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    subject TEXT COLLATE "C" NOT NULL,
    ip_address TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX federated_sessions_by_age ON federated_sessions (created_at)`
]
