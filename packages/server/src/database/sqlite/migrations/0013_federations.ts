import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Federations, by which service accounts sign in without a stored key, and their sessions. `conditions` and `jwks` are JSON.
 * A removed federation keeps its row.
 */
const statements = [
  `CREATE TABLE federations (
    id TEXT PRIMARY KEY,
    service_account_id TEXT NOT NULL REFERENCES service_accounts (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    issuer TEXT NOT NULL,
    audience TEXT NOT NULL,
    jwks TEXT,
    conditions TEXT NOT NULL,
    max_age INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    expires_at TEXT,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    removed_at TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX federations_live ON federations (service_account_id, name) WHERE removed_at IS NULL`,
  `CREATE TABLE federated_sessions (
    id TEXT PRIMARY KEY,
    federation_id TEXT NOT NULL REFERENCES federations (id),
    service_account_id TEXT NOT NULL REFERENCES service_accounts (id),
    token_hash TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    ip_address TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX federated_sessions_by_age ON federated_sessions (created_at)`
]

export const federations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
