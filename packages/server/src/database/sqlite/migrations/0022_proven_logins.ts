import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** When the person of a session proved who they are. Earlier sessions all began with such a proof, as far as is known. */
const statements = [
  `ALTER TABLE sessions ADD COLUMN proven_at TEXT`,
  `UPDATE sessions SET proven_at = created_at`,
  `ALTER TABLE client_logins ADD COLUMN proven_at TEXT`,
  `UPDATE client_logins SET proven_at = created_at WHERE state = 'approved'`
]

export const provenLogins = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
