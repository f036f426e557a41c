import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The logins of programs: by a code that a person enters in a browser (`device`), and by a code that the browser brings to
 * the program (`loopback`). Codes are stored as hashes and MACs. `user_code_start` is the MAC of the user code's first half.
 */
const statements = [
  `CREATE TABLE client_logins (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('device', 'loopback')),
    secret_hash TEXT NOT NULL UNIQUE,
    user_code_start BLOB,
    user_code_mac BLOB,
    challenge TEXT,
    redirect_uri TEXT,
    machine TEXT,
    ip_address TEXT,
    user_id TEXT REFERENCES users (id),
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'refused', 'used')),
    wrong_tries INTEGER NOT NULL DEFAULT 0,
    last_polled_at TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX client_logins_by_user_code ON client_logins (user_code_start) WHERE state = 'pending'`,
  `CREATE INDEX client_logins_by_user ON client_logins (user_id) WHERE state = 'approved'`,
  `CREATE INDEX client_logins_by_age ON client_logins (created_at)`
]

export const clientLogins = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
