import type { Migration } from "../Migration.js"

/**
 * The last look at a platform: `state` is that of its worst key. `check_at` is compared with the database's clock, and null before
 * the first push. The stamp of a key is what the platform told of it right after the push.
 */
export const targetDrift: Migration = {
  name: "target_drift",
  statements: [
    "ALTER TABLE target_keys ADD COLUMN stamp TEXT",
    "ALTER TABLE targets ADD COLUMN state TEXT",
    "ALTER TABLE targets ADD COLUMN checked_at TEXT",
    "ALTER TABLE targets ADD COLUMN check_at INTEGER",
    "UPDATE targets SET pusher_id = creator_id WHERE pusher_id IS NULL",
    "CREATE INDEX targets_by_check ON targets (check_at) WHERE check_at IS NOT NULL"
  ]
}
