import type { Migration } from "../Migration.js"

/**
 * Credentials that are renewed. `turn` is the user whose password is changed next, and `draw` numbers the passwords: a drawn one is
 * the wrapped key `rotation/ID/DRAW` until it is written. `due_at` is compared with the database's clock; 0 is now, outside of the
 * window too.
 */
export const rotations: Migration = {
  name: "rotations",
  statements: [
    `CREATE TABLE rotations (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      env_id TEXT NOT NULL REFERENCES environments (id),
      connection_id TEXT NOT NULL REFERENCES connections (id),
      name TEXT NOT NULL,
      users TEXT NOT NULL,
      writes TEXT NOT NULL,
      every TEXT NOT NULL,
      open_at TEXT,
      length INTEGER NOT NULL,
      alphabet TEXT NOT NULL,
      state TEXT NOT NULL,
      turn INTEGER NOT NULL,
      draw INTEGER NOT NULL,
      due_at INTEGER NOT NULL,
      rotated_at TEXT,
      failures INTEGER NOT NULL,
      problem TEXT,
      paused TEXT,
      created_by TEXT NOT NULL,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT`,
    "CREATE UNIQUE INDEX rotations_by_name ON rotations (env_id, name)",
    "CREATE INDEX rotations_by_connection ON rotations (connection_id)",
    "CREATE INDEX rotations_due ON rotations (due_at, id) WHERE paused IS NULL"
  ]
}
