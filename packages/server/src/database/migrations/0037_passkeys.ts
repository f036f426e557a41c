import type { Migration } from "../Migration.js"

/**
 * The passkeys of people, the challenges that wait for one, and by what a session was proven. A challenge has its hash as its id, and
 * no reference to its session: its row is deleted minutes later in any case. An older server would take a login by code for a proof
 * where only a passkey is one.
 */
export const passkeys: Migration = {
  name: "passkeys",
  raisesMinReader: true,
  statements: [
    `CREATE TABLE passkeys (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id),
      name TEXT NOT NULL,
      credential_id TEXT NOT NULL UNIQUE,
      public_key BLOB NOT NULL,
      counter INTEGER NOT NULL CHECK (counter >= 0),
      transports TEXT NOT NULL,
      created_at TEXT NOT NULL,
      last_used_at TEXT
    ) STRICT`,
    "CREATE UNIQUE INDEX passkeys_by_person ON passkeys (user_id, name)",
    `CREATE TABLE passkey_challenges (
      id TEXT PRIMARY KEY,
      session_id TEXT NOT NULL,
      purpose TEXT NOT NULL CHECK (purpose IN ('register', 'prove')),
      target_id TEXT NOT NULL,
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL
    ) STRICT`,
    "CREATE INDEX passkey_challenges_by_session ON passkey_challenges (session_id, created_at)",
    "CREATE INDEX passkey_challenges_by_age ON passkey_challenges (created_at)",
    "ALTER TABLE sessions ADD COLUMN proven_by TEXT NOT NULL DEFAULT 'login' CHECK (proven_by IN ('login', 'passkey', 'operator'))",
    "ALTER TABLE organizations ADD COLUMN passkey_recovery TEXT NOT NULL DEFAULT 'login' CHECK (passkey_recovery IN ('login', 'none'))"
  ]
}
