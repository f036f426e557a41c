import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Webhooks and their deliveries. `seq` of a webhook is the last entry of its organization's audit log from which deliveries were
 * made. Deliveries of a lane are sent one after the other, by `seq`; those behind the first have no `next_at`. Signing keys are
 * in `wrapped_keys`. `announced_at` of a key is when its end was announced.
 */
const statements = [
  `CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    environments TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    failed_at TEXT,
    seq INTEGER NOT NULL,
    key_number INTEGER NOT NULL,
    old_key_until TEXT,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    removed_at TEXT
  ) STRICT`,
  `CREATE INDEX webhooks_of_org ON webhooks (org_id, id) WHERE removed_at IS NULL`,
  `CREATE TABLE webhook_deliveries (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id),
    kind TEXT NOT NULL CHECK (kind IN ('event', 'test', 'again')),
    lane TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'skipped')),
    tries INTEGER NOT NULL,
    status INTEGER,
    reason TEXT,
    next_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (webhook_id, seq) WHERE kind = 'event'`,
  `CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id)`,
  `CREATE INDEX webhook_deliveries_in_lane ON webhook_deliveries (webhook_id, lane, seq) WHERE state = 'pending'`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state = 'pending'`,
  `CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at)`,
  `ALTER TABLE api_keys ADD COLUMN announced_at TEXT`,
  `CREATE INDEX api_keys_by_end ON api_keys (expires_at)
    WHERE announced_at IS NULL AND replaced_at IS NULL AND removed_at IS NULL`
]

export const webhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
