import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** The identities of people at a provider of single sign-on, and the kind of each session. */
const statements = [
  `CREATE TABLE identities (
    id TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    sub TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id),
    email TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    UNIQUE (issuer, sub),
    UNIQUE (issuer, user_id)
  ) STRICT`,
  `ALTER TABLE sessions ADD COLUMN kind TEXT NOT NULL DEFAULT 'token'`
]

export const identities = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
