import type { Migration } from "../Migration.js"

/** The users without a lease that the last look at a database has found, and when the next one is: `look_at` and `mailed_at` are of the database's clock. */
export const renewalNotices: Migration = {
  name: "renewal_notices",
  statements: [
    "ALTER TABLE connections ADD COLUMN orphans INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE connections ADD COLUMN look_at INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX connections_by_look ON connections (look_at, id)",
    "ALTER TABLE rotations ADD COLUMN mailed_at INTEGER"
  ]
}
