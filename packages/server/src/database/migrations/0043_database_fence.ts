import type { Migration } from "../Migration.js"

/**
 * The random number of a shared database, which is another one after the database went on without the servers that use it. `why`
 * says by what, and `moved_at` when. An SQLite file has its lock instead. Older servers do not know the table.
 */
export const databaseFence: Migration = {
  name: "database_fence",
  statements: [
    {
      postgres: `CREATE TABLE database_fence (
        id BIGINT PRIMARY KEY DEFAULT 1 CHECK (id = 1),
        number BIGINT NOT NULL,
        why TEXT COLLATE "C" NOT NULL,
        moved_at TEXT COLLATE "C" NOT NULL
      )`
    },
    {
      postgres:
        "INSERT INTO database_fence (number, why, moved_at) VALUES (floor(random() * 9007199254740991), 'created', '')"
    }
  ]
}
