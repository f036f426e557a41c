import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * How often all logins of a user were ended: a page of a login that began before must not go on. The index finds the sessions
 * of browsers that have been idle for too long.
 */
const statements = [
  "ALTER TABLE users ADD COLUMN logins_ended INTEGER NOT NULL DEFAULT 0",
  "CREATE INDEX sessions_idle ON sessions (last_used_at) WHERE kind = 'cookie'"
]

export const endedLogins = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
