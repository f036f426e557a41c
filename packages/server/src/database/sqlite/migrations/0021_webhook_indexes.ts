import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Indexes of deliveries: the due ones of a webhook in their order, its failed ones, and its pending events, which are counted.
 * Without them, the statements of the job read all pending deliveries or those of 30 days, twice a second.
 */
const statements = [
  `DROP INDEX webhook_deliveries_in_lane`,
  `CREATE INDEX webhook_deliveries_in_lane ON webhook_deliveries (webhook_id, lane, seq)
    WHERE state = 'pending' AND kind = 'event'`,
  `CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, next_at, id) WHERE state = 'pending'`,
  `CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id) WHERE state = 'failed' AND kind = 'event'`
]

export const webhookIndexes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
