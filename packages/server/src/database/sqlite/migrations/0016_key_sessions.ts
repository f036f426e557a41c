import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Sessions of service accounts that signed in with a key through the Vault API. They end with their key. */
const statements = [
  `CREATE TABLE key_sessions (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    token_hash TEXT NOT NULL UNIQUE,
    ip_address TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX key_sessions_by_end ON key_sessions (expires_at)`
]

export const keySessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
