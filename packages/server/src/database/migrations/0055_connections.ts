import type { Migration } from "../Migration.js"

/** Databases that the server logs in to, without passwords: those are secrets of the environment. */
export const connections: Migration = {
  name: "connections",
  statements: [
    `CREATE TABLE connections (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      env_id TEXT NOT NULL REFERENCES environments (id),
      name TEXT NOT NULL,
      kind TEXT NOT NULL,
      host TEXT NOT NULL,
      port INTEGER NOT NULL,
      database TEXT NOT NULL,
      tls TEXT NOT NULL,
      ca TEXT,
      login TEXT NOT NULL,
      password_key TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT`,
    "CREATE UNIQUE INDEX connections_by_name ON connections (env_id, name)"
  ]
}
