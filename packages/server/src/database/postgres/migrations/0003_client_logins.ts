/** Logins of programs that a person approves in a browser (`ClientLogins`): the table that SQLite's migration makes. */
export const clientLogins: ReadonlyArray<string> = [
  `CREATE TABLE client_logins (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('device', 'loopback')),
    secret_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    user_code_start BYTEA,
    user_code_mac BYTEA,
    challenge TEXT COLLATE "C",
    redirect_uri TEXT COLLATE "C",
    machine TEXT COLLATE "C",
    ip_address TEXT COLLATE "C",
    user_id TEXT COLLATE "C" REFERENCES users (id),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'approved', 'refused', 'used')),
    wrong_tries BIGINT NOT NULL DEFAULT 0,
    last_polled_at TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX client_logins_by_user_code ON client_logins (user_code_start) WHERE state = 'pending'`,
  `CREATE INDEX client_logins_by_user ON client_logins (user_id) WHERE state = 'approved'`,
  `CREATE INDEX client_logins_by_age ON client_logins (created_at)`
]
