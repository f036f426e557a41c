import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** The network of a login by device: whoever begins many must not keep others out. The index counts the pending ones. */
const statements = [
  `ALTER TABLE client_logins ADD COLUMN network TEXT`,
  `UPDATE client_logins SET network = coalesce(ip_address, 'unknown') WHERE kind = 'device'`,
  `CREATE INDEX client_logins_by_network ON client_logins (network, created_at) WHERE state = 'pending'`
]

export const clientNetworks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
