import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * When secrets are due. `due_at` is kept up to date, because no index can compute it; `event_at` is when the next entry about it
 * is made. `due_revision` grows with every change of these, so that an ETag of them never names two contents. `due_mails` holds
 * when a user was last reminded.
 */
const statements = [
  `CREATE TABLE secret_dues (
    secret_id TEXT PRIMARY KEY REFERENCES secrets (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    env_id TEXT NOT NULL REFERENCES environments (id),
    owner TEXT,
    expires_at TEXT,
    rotate_every_days INTEGER,
    due_at TEXT,
    event_at TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX secret_dues_by_env ON secret_dues (env_id, due_at, secret_id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX secret_dues_by_org ON secret_dues (org_id, due_at, secret_id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX secret_dues_by_owner ON secret_dues (owner, due_at, secret_id)
    WHERE due_at IS NOT NULL AND owner IS NOT NULL`,
  `CREATE INDEX secret_dues_by_time ON secret_dues (due_at, secret_id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX secret_dues_by_event ON secret_dues (event_at, secret_id) WHERE event_at IS NOT NULL`,
  `CREATE INDEX secret_dues_rotating ON secret_dues (env_id) WHERE rotate_every_days IS NOT NULL`,
  `ALTER TABLE environments ADD COLUMN due_revision INTEGER NOT NULL DEFAULT 0`,
  `CREATE TABLE due_mails (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    mailed_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`
]

export const secretDues = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
