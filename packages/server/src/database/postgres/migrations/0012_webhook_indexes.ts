/** Indexes of deliveries: as on SQLite. */
export const webhookIndexes: ReadonlyArray<string> = [
  `DROP INDEX webhook_deliveries_in_lane`,
  `CREATE INDEX webhook_deliveries_in_lane ON webhook_deliveries (webhook_id, lane, seq)
    WHERE state = 'pending' AND kind = 'event'`,
  `CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, next_at, id) WHERE state = 'pending'`,
  `CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id) WHERE state = 'failed' AND kind = 'event'`
]
