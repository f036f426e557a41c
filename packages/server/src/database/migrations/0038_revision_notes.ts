import type { Migration } from "../Migration.js"

/** Authors' notes on their revisions. Few revisions have one, so it is no column of each change. Older servers show none. */
export const revisionNotes: Migration = {
  name: "revision_notes",
  statements: [
    `CREATE TABLE revision_notes (
      env_id TEXT NOT NULL REFERENCES environments (id),
      revision INTEGER NOT NULL,
      note TEXT NOT NULL,
      PRIMARY KEY (env_id, revision)
    ) STRICT, WITHOUT ROWID`
  ]
}
