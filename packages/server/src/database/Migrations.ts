import { Migrator, SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { StartupError } from "../StartupError.js"
import { initial } from "./migrations/0001_initial.js"

/** Every migration, in order. A test holds this record against the folder. */
export const migrations = {
  "0001_initial": initial
}

const newest = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

const Found = Schema.Array(Schema.Struct({ migration_id: Schema.Number }))

const refuseNewer = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'effect_sql_migrations'`
  if (tables.length === 0) return
  const rows =
    yield* sql`SELECT max(migration_id) AS migration_id FROM effect_sql_migrations HAVING migration_id IS NOT NULL`
  const [found] = yield* Schema.decodeUnknown(Found)(rows)
  if (found !== undefined && found.migration_id > newest) {
    return yield* new StartupError({
      message: `the database has schema ${found.migration_id}, which is newer than this program's ${newest}: run the newer coffer-server`
    })
  }
})

/** Brings the schema up to date; refuses a database that a newer program has written. */
export const migrate = Effect.gen(function* () {
  yield* refuseNewer
  yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations) })
}).pipe(
  Effect.catchTags({
    SqlError: (error) => new StartupError({ message: `the database cannot be read: ${reasonOf(error.cause)}` }),
    ParseError: () => new StartupError({ message: "the database's table of migrations is damaged" }),
    MigrationError: (error) => new StartupError({ message: `the database cannot be migrated: ${error.message}` })
  })
)

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : "unknown reason")
