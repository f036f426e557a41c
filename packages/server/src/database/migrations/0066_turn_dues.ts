import type { Migration } from "../Migration.js"

/** The next turn of the rotation that writes a secret, as of its last change. It stands in for the age of the secret's version. */
export const turnDues: Migration = {
  name: "turn_dues",
  statements: ["ALTER TABLE secret_dues ADD COLUMN rotation_id TEXT", "ALTER TABLE secret_dues ADD COLUMN turn_at TEXT"]
}
