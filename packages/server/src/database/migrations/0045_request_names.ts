import type { Migration } from "../Migration.js"

/**
 * The names in the call of a request, with the ids that they had when it was asked for: a JSON list. Null if an older server
 * stored the request.
 */
export const requestNames: Migration = {
  name: "request_names",
  statements: ["ALTER TABLE requests ADD COLUMN named TEXT"]
}
