import type { Migration } from "../Migration.js"

/** What is said of a revision by whoever made it. Few have a note, so it is no column of each change. Older servers show none. */
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
