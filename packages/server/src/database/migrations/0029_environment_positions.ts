import type { Migration } from "../Migration.js"

/** The order that a project gives its environments. Null: by stage and name, as before. Older servers do not know the column. */
export const environmentPositions: Migration = {
  name: "environment_positions",
  statements: ["ALTER TABLE environments ADD COLUMN position INTEGER"]
}
