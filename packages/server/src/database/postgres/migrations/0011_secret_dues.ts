/** When secrets are due, and who was reminded: as on SQLite. */
export const secretDues: ReadonlyArray<string> = [
  `CREATE TABLE secret_dues (
    secret_id TEXT COLLATE "C" PRIMARY KEY REFERENCES secrets (id),
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    env_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id),
    owner TEXT COLLATE "C",
    expires_at TEXT COLLATE "C",
    rotate_every_days BIGINT,
    due_at TEXT COLLATE "C",
    event_at TEXT COLLATE "C"
  )`,
  `CREATE INDEX secret_dues_by_env ON secret_dues (env_id, due_at, secret_id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX secret_dues_by_org ON secret_dues (org_id, due_at, secret_id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX secret_dues_by_owner ON secret_dues (owner, due_at, secret_id)
    WHERE due_at IS NOT NULL AND owner IS NOT NULL`,
  `CREATE INDEX secret_dues_by_time ON secret_dues (due_at, secret_id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX secret_dues_by_event ON secret_dues (event_at, secret_id) WHERE event_at IS NOT NULL`,
  `CREATE INDEX secret_dues_rotating ON secret_dues (env_id) WHERE rotate_every_days IS NOT NULL`,
  `ALTER TABLE environments ADD COLUMN due_revision BIGINT NOT NULL DEFAULT 0`,
  `CREATE TABLE due_mails (
    user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
    mailed_at TEXT COLLATE "C" NOT NULL
  )`
]
