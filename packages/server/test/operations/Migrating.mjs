/**
 * The start of a later version of the server, as far as its schema goes: one more migration on top of the program's own.
 * With FAIL, that migration fails at its end.
 */
import { SqlClient } from "@effect/sql"
import { clientOf } from "@coffer/server/database/sqlite/Connection"
import { guardDatabaseFile } from "@coffer/server/database/sqlite/DatabaseFile"
import { lock } from "@coffer/server/database/sqlite/Lock"
import { migrate, migrations } from "@coffer/server/database/sqlite/Migrations"
import { pragmas } from "@coffer/server/database/sqlite/SqliteDatabase"
import * as Reactivity from "@effect/experimental/Reactivity"
import { Effect } from "effect"

process.umask(0o077)

const later = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE later (secret_id TEXT PRIMARY KEY, label TEXT NOT NULL) STRICT`
  yield* sql`INSERT INTO later SELECT id, key FROM secrets`
  yield* sql`ALTER TABLE secrets ADD COLUMN label TEXT`
  yield* sql`UPDATE secrets SET label = (SELECT label FROM later WHERE secret_id = secrets.id)`
  if (process.env.FAIL) yield* sql`INSERT INTO later VALUES (NULL, NULL)`
})

const next = String(Object.keys(migrations).length + 1).padStart(4, "0")
const [path = ""] = process.argv.slice(2)

await Effect.gen(function* () {
  yield* guardDatabaseFile(path)
  yield* lock(path)
  const client = yield* clientOf(path)
  for (const [name, value] of Object.entries(pragmas)) yield* client.unsafe(`PRAGMA ${name} = ${value}`)
  yield* migrate(path, { ...migrations, [`${next}_later`]: later }).pipe(
    Effect.provideService(SqlClient.SqlClient, client)
  )
}).pipe(
  Effect.scoped,
  Effect.provide(Reactivity.layer),
  Effect.catchTag("StartupError", ({ message }) =>
    Effect.sync(() => {
      process.stderr.write(`${message}\n`)
      process.exitCode = 1
    })
  ),
  Effect.runPromise
)
