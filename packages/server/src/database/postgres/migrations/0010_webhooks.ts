/** Webhooks and their deliveries: as on SQLite. */
export const webhooks: ReadonlyArray<string> = [
  `CREATE TABLE webhooks (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    url TEXT COLLATE "C" NOT NULL,
    events TEXT COLLATE "C" NOT NULL,
    environments TEXT COLLATE "C" NOT NULL,
    enabled BIGINT NOT NULL,
    failed_at TEXT COLLATE "C",
    seq BIGINT NOT NULL,
    key_number BIGINT NOT NULL,
    old_key_until TEXT COLLATE "C",
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    removed_at TEXT COLLATE "C"
  )`,
  `CREATE INDEX webhooks_of_org ON webhooks (org_id, id) WHERE removed_at IS NULL`,
  `CREATE TABLE webhook_deliveries (
    id TEXT COLLATE "C" PRIMARY KEY,
    webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('event', 'test', 'again')),
    lane TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'skipped')),
    tries BIGINT NOT NULL,
    status BIGINT,
    reason TEXT COLLATE "C",
    next_at TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (webhook_id, seq) WHERE kind = 'event'`,
  `CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id)`,
  `CREATE INDEX webhook_deliveries_in_lane ON webhook_deliveries (webhook_id, lane, seq) WHERE state = 'pending'`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state = 'pending'`,
  `CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at)`,
  `ALTER TABLE api_keys ADD COLUMN announced_at TEXT COLLATE "C"`,
  `CREATE INDEX api_keys_by_end ON api_keys (expires_at)
    WHERE announced_at IS NULL AND replaced_at IS NULL AND removed_at IS NULL`
]
