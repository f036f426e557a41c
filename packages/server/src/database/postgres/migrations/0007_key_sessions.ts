/** Sessions of service accounts that signed in with a key through the Vault API: as on SQLite. */
export const keySessions: ReadonlyArray<string> = [
  `CREATE TABLE key_sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    ip_address TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX key_sessions_by_end ON key_sessions (expires_at)`
]
