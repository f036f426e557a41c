import type { Migration } from "../Migration.js"

/**
 * The origin of a session: the program and its machine by their own claim, or how the browser names itself. Unknown for
 * earlier sessions.
 */
export const sessionOrigins: Migration = {
  name: "session_origins",
  statements: [
    "ALTER TABLE sessions ADD COLUMN program TEXT",
    "ALTER TABLE sessions ADD COLUMN machine TEXT",
    "ALTER TABLE sessions ADD COLUMN user_agent TEXT"
  ]
}
