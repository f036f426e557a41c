import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Events for rate limits other than those by e-mail address: logins by client address, invitation mails. */
const statements = [
  `CREATE TABLE rate_events (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX rate_events_by_subject ON rate_events (kind, subject, created_at)`,
  `CREATE INDEX rate_events_by_age ON rate_events (created_at)`
]

export const rateLimits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
