import type { Migration } from "../Migration.js"

/**
 * The programs that delegations were made for by consent (OAuth 2.1), each with its code. `client_hash` is the SHA-256 of the client
 * id, which may be a whole registration. A row goes with its delegation, which older servers delete alone.
 */
export const consents: Migration = {
  name: "consents",
  statements: [
    `CREATE TABLE consents (
      delegation_id TEXT PRIMARY KEY REFERENCES delegations (id) ON DELETE CASCADE,
      client_hash TEXT NOT NULL,
      client_name TEXT NOT NULL,
      client_host TEXT,
      redirect_uri TEXT NOT NULL,
      challenge TEXT NOT NULL,
      code_hash TEXT NOT NULL UNIQUE,
      code_expires_at INTEGER NOT NULL,
      ends_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT`
  ]
}
