import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Disabled users, and the time of each user's last request, which must survive the deletion of sessions. */
const statements = [
  `ALTER TABLE users ADD COLUMN disabled_at TEXT`,
  `ALTER TABLE users ADD COLUMN last_seen_at TEXT`,
  `UPDATE users SET last_seen_at = (SELECT max(last_used_at) FROM sessions WHERE user_id = users.id)`,
  `CREATE INDEX users_disabled ON users (email) WHERE disabled_at IS NOT NULL`,
  `CREATE INDEX service_accounts_by_creator ON service_accounts (created_by) WHERE removed_at IS NULL`
]

export const disabledUsers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
