import { Database } from "@coffer/server/database/Database"
import { Jobs } from "@coffer/server/database/jobs/Jobs"
import { query } from "@coffer/server/database/Query"
import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import { logged } from "../support/Logged.js"
import { onDatabase } from "../support/Services.js"

/** The database of the test, as one that several servers use. On SQLite the lock on the file forbids that otherwise. */
export const shared = Layer.effect(
  Database,
  Effect.map(Database, (database) => Database.of({ ...database, isShared: true }))
)

/** The jobs of one more server of the database. */
export const server = Effect.map(Layer.build(Layer.fresh(Jobs.Default)), Context.get(Jobs))

interface Row {
  readonly name: string
  readonly bucket: string
  readonly holder: string
  readonly until: string | null
  readonly token: number
}

export const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Row>`SELECT name, bucket, holder, until, token FROM jobs ORDER BY name, bucket`
)

/** Ends every lease now, as if its holder had slept through it. */
export const passLeases = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE jobs SET until = '1970-01-01T00:00:00.000Z' WHERE until IS NOT NULL`
)

export const withServers = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.scoped, Effect.provide(Layer.merge(shared, logged().layer)), onDatabase())

/** A change that a job may make. */
export const add = (name: string) =>
  Effect.flatMap(query, ({ write }) => write`INSERT INTO wrap_counts VALUES (${"name"}, 0, '')`({ name }))

export const added = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ kek_id: string }>`SELECT kek_id FROM wrap_counts ORDER BY kek_id`
).pipe(Effect.map((found) => found.map(({ kek_id }) => kek_id)))
