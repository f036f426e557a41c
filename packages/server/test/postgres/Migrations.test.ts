import { readdirSync } from "node:fs"
import { join } from "node:path"
import { type Migration, toPostgres } from "@coffer/server/database/Migration"
import { fromLater, migrate, migrations, newestMigration } from "@coffer/server/database/postgres/Migrations"
import { clientOf } from "@coffer/server/database/sqlite/Connection"
import {
  fromLater as sqliteLater,
  migrate as migrateSqlite,
  migrations as sqliteMigrations,
  newestMigration as newestSqlite
} from "@coffer/server/database/sqlite/Migrations"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { freshDatabase, onServer, reached } from "../support/postgres/Databases.js"
import { collatedColumns, postgresTables, sqliteTables, type Tables } from "../support/Schemas.js"
import { freshPath, rawAt, servicesAt } from "../support/Services.js"

const next = newestMigration + 1

/** Tables, and facts about tables, that only one engine has, with the reasons. */
const sqliteAlone: Readonly<Record<string, string>> = {
  effect_sql_migrations: "its record of migrations",
  "audit_times: key block": "one writer, so a block has one row",
  "secret_versions: index kek_id": "every index of a table without rowids ends with its key"
}
const postgresAlone: Readonly<Record<string, string>> = {
  schema_migrations: "its record of migrations",
  schema_info: "several releases may use the database at the same time",
  database_fence: "a server that was paused may come back; SQLite's file is locked",
  erasures: "VACUUM erases, and a job runs it; SQLite counts what is due in its file's header",
  "audit_times: log text not null": "each log has its own row of a block, so that writers do not wait for each other",
  "audit_times: key block log": "as above",
  "secret_versions: index kek_id secret_id version": "SQLite's index ends with the key too"
}

const factsOf = (tables: Tables, alone: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(tables)
    .flatMap(([table, facts]) => (table in alone ? [] : facts.map((fact) => `${table}: ${fact}`)))
    .filter((line) => !(line in alone))
    .sort()

const sqliteFile = Effect.gen(function* () {
  const path = yield* freshPath
  yield* Effect.provide(Effect.void, servicesAt(path))
  return yield* rawAt(path, { readonly: true })
})

describe("the migrations of both engines", () => {
  const notes: Migration = {
    name: "notes",
    statements: [
      `CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    text TEXT NOT NULL DEFAULT 'TEXT',
    body BLOB,
    weight REAL NOT NULL DEFAULT 0.5,
    UNIQUE (org_id, text)
  ) STRICT`,
      `CREATE TABLE note_words (
    note INTEGER NOT NULL REFERENCES notes (id),
    word TEXT NOT NULL,
    PRIMARY KEY (note, word)
  ) STRICT, WITHOUT ROWID`,
      `INSERT INTO notes (org_id) SELECT id FROM organizations`,
      {
        sqlite: "UPDATE notes SET body = CAST(text AS BLOB)",
        postgres: "UPDATE notes SET body = convert_to(text, 'UTF8')"
      },
      { postgres: "ALTER TABLE notes ALTER COLUMN body SET STORAGE EXTERNAL" }
    ],
    raisesMinReader: true
  }
  const newOrganization = `INSERT INTO organizations (id, name, created_at, updated_at) VALUES ('a', 'acme', '', '')`
  const facts = [
    "note_words: key note word",
    "note_words: note integer not null",
    "note_words: reference note to notes id",
    "note_words: word text not null",
    "notes: body blob",
    "notes: id integer not null",
    "notes: key id",
    "notes: org_id text not null",
    "notes: reference org_id to organizations id",
    "notes: text text not null",
    "notes: unique org_id text",
    "notes: weight real not null"
  ]
  const factsOfNotes = (tables: Tables) => factsOf(tables, {}).filter((line) => line.startsWith("note"))
  const found = { id: 1, org_id: "a", text: "TEXT", body: Buffer.from("TEXT"), weight: 0.5 }

  it.scoped("bring a database of SQLite from the schema of this program to the next", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, servicesAt(path))
      const db = yield* rawAt(path)
      db.exec(newOrganization)
      yield* Effect.flatMap(clientOf(path), (client) =>
        Effect.provideService(
          migrateSqlite(path, { ...sqliteMigrations, ...sqliteLater([notes], newestSqlite + 1) }),
          SqlClient.SqlClient,
          client
        )
      ).pipe(Effect.provide(Reactivity.layer))
      assert.deepStrictEqual(factsOfNotes(sqliteTables(db)), facts)
      assert.deepStrictEqual(db.prepare("SELECT * FROM notes").all(), [found])
      assert.deepStrictEqual(
        db
          .prepare("SELECT name FROM effect_sql_migrations WHERE migration_id = ?")
          .pluck()
          .all(newestSqlite + 1),
        ["notes"]
      )
    })
  )

  it.live("bring a database of PostgreSQL from the schema of this program to the next", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      yield* onServer(name, (client) => client.query(newOrganization))
      yield* migrate(yield* reached(url), { all: { ...migrations, ...fromLater([notes], next) } })
      yield* onServer(name, async (client) => {
        assert.deepStrictEqual(factsOfNotes(await postgresTables(client)), facts)
        assert.deepStrictEqual((await client.query<object>("SELECT * FROM notes")).rows, [found])
        assert.deepStrictEqual(
          (
            await client.query<object>(
              "SELECT name, min_reader FROM schema_migrations CROSS JOIN schema_info WHERE schema_migrations.id = $1",
              [next]
            )
          ).rows,
          [{ name: `${String(next).padStart(4, "0")}_notes`, min_reader: next }]
        )
      })
      assert.deepStrictEqual(yield* onServer(name, collatedColumns), [])
    }).pipe(Effect.scoped)
  )
})

describe("the migrations of PostgreSQL", () => {
  it("are the files of both folders, all of them, numbered from 1 without gaps", () => {
    const namesIn = (folder: string) =>
      readdirSync(join(import.meta.dirname, "../../src/database", folder))
        .filter((file) => file.endsWith(".ts"))
        .map((file) => file.replace(/\.ts$/, ""))
        .sort()
    const own = namesIn("postgres/migrations")
    // The files of later migrations have SQLite's numbers.
    const later = namesIn("migrations").map(
      (name, index) => String(own.length + index + 1).padStart(4, "0") + name.slice(4)
    )
    assert.deepStrictEqual(Object.keys(migrations), [...own, ...later])
    assert.deepStrictEqual(
      own.map((name) => Number(name.slice(0, 4))),
      own.map((_, index) => index + 1)
    )
  })

  it.live("run once, however many programs start at the same time", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase({ migrated: false })
      yield* Effect.all(
        Array.from({ length: 5 }, () => Effect.flatMap(reached(url), migrate)),
        { concurrency: 5 }
      )
      const { rows } = yield* onServer(name, (client) =>
        client.query<Record<string, unknown>>("SELECT name FROM schema_migrations")
      )
      assert.deepStrictEqual(
        rows.map((row) => row["name"]),
        Object.keys(migrations)
      )
    }).pipe(Effect.scoped)
  )

  it.live("run again after a deadlock with a server, which holds the tables in another order", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      const at = yield* reached(url)
      const crossing = {
        ...migrations,
        [`000${next}_crossing`]: [
          "ALTER TABLE projects ADD COLUMN crossed TEXT",
          "ALTER TABLE members ADD COLUMN crossed TEXT"
        ]
      }
      const held = yield* Deferred.make<void>()
      const server = onServer(name, async (client) => {
        // The migration, whose connection comes later, notices the deadlock first.
        await client.query(`ALTER DATABASE "${name}" SET deadlock_timeout = '3s'; SET deadlock_timeout = '60s'`)
        await client.query("BEGIN; LOCK members")
        Effect.runSync(Deferred.succeed(held, undefined))
        for (;;) {
          const { rowCount } = await client.query(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'members'::regclass"
          )
          if (rowCount === 1) break
        }
        await client.query("LOCK projects; COMMIT")
      })
      const running = yield* Effect.fork(server)
      yield* Deferred.await(held)
      const before = yield* migrate(at, { all: crossing })
      yield* Fiber.join(running)
      assert.strictEqual(before.found, newestMigration)
      yield* onServer(name, (client) => client.query("SELECT projects.crossed, members.crossed FROM projects, members"))
    }).pipe(Effect.scoped)
  )

  it.live("leave nothing when one fails, and refuse a database of a newer program", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase({ migrated: false })
      const broken = {
        ...migrations,
        [`000${next}_broken`]: ["CREATE TABLE more (a TEXT)", "CREATE TABLE more (a TEXT)"]
      }
      const error = yield* Effect.flip(migrate(yield* reached(url), { all: broken }))
      assert.match(error.message, /cannot be migrated.*already exists.*as it was before/)
      const tables = yield* onServer(name, (client) =>
        client.query("SELECT 1 FROM information_schema.tables WHERE table_schema = 'public'")
      )
      assert.strictEqual(tables.rowCount, 0)
      yield* migrate(yield* reached(url), {
        all: {
          ...migrations,
          [`000${next}_later`]: ["CREATE TABLE more (a TEXT)", `UPDATE schema_info SET min_reader = ${next}`]
        }
      })
      assert.match(
        (yield* Effect.flip(migrate(yield* reached(url)))).message,
        new RegExp(`has schema ${next}, which programs with schema ${next} and later read`)
      )
    }).pipe(Effect.scoped)
  )
})

describe("the schema of PostgreSQL", () => {
  it.live(
    "is SQLite's: tables, columns with type and nullability, keys, references and indexes, but for what is listed",
    () =>
      Effect.gen(function* () {
        const sqlite = sqliteTables(yield* sqliteFile)
        const { name } = yield* freshDatabase()
        const postgres = yield* onServer(name, postgresTables)
        assert.deepStrictEqual(factsOf(postgres, postgresAlone), factsOf(sqlite, sqliteAlone))
        assert.deepStrictEqual(yield* onServer(name, collatedColumns), [], "text that is not compared by bytes")
      }).pipe(Effect.scoped)
  )

  it.live("is what SQLite's statements make, translated as those of later migrations are", () =>
    Effect.gen(function* () {
      const db = yield* sqliteFile
      const made = db
        .prepare<[], string>(
          `SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name <> 'effect_sql_migrations'
            ORDER BY rowid`
        )
        .pluck()
        .all()
      const { name } = yield* freshDatabase({ migrated: false })
      const translated = yield* onServer(name, async (client) => {
        for (const statement of made) await client.query(toPostgres(statement))
        return await postgresTables(client)
      })
      const { effect_sql_migrations: _record, ...tables } = sqliteTables(db)
      assert.deepStrictEqual(factsOf(translated, {}), factsOf(tables, {}))
      assert.deepStrictEqual(yield* onServer(name, collatedColumns), [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses every change of an audit entry", () =>
    Effect.gen(function* () {
      const { name } = yield* freshDatabase()
      yield* onServer(name, async (client) => {
        await client.query(
          `INSERT INTO audit_entries (id, log, seq, actor_type, actor_name, action, resource_type, metadata, created_at, chain)
            VALUES ('a', 'system', 1, 'system', 'test', 'auth.login', 'server', '{}', '', '')`
        )
        for (const change of [
          "UPDATE audit_entries SET seq = 2",
          "DELETE FROM audit_entries",
          "TRUNCATE audit_entries"
        ]) {
          const refusal = await client.query(change).then(
            () => "none",
            (error: unknown) => String(error)
          )
          assert.include(refusal, "audit entries are immutable", change)
        }
      })
    }).pipe(Effect.scoped)
  )
})
