import type { Migration } from "../Migration.js"

/**
 * An import is finished in many transactions: `written` is how many records of its structure are rows by now. Older servers finish
 * one in a single transaction, which fails if a newer one began.
 */
export const importSteps: Migration = {
  name: "import_steps",
  statements: ["ALTER TABLE imports ADD COLUMN written INTEGER NOT NULL DEFAULT 0"]
}
