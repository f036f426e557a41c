import type { Migration } from "../Migration.js"

/** What the call of a request names, with the ids that it had when it was asked for: a JSON list. Null: an older server stored it. */
export const requestNames: Migration = {
  name: "request_names",
  statements: ["ALTER TABLE requests ADD COLUMN named TEXT"]
}
