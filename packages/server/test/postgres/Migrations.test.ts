import { readdirSync } from "node:fs"
import { join } from "node:path"
import { migrate, migrations, newestMigration } from "@coffer/server/database/postgres/Migrations"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect } from "effect"
import { freshDatabase, onServer, reached } from "../support/postgres/Databases.js"
import { freshPath, rawAt, servicesAt } from "../support/Services.js"

const next = newestMigration + 1

describe("the migrations of PostgreSQL", () => {
  it("are the folder's files, all of them, numbered from 1 without gaps", () => {
    const folder = join(import.meta.dirname, "../../src/database/postgres/migrations")
    const files = readdirSync(folder)
      .filter((file) => file.endsWith(".ts"))
      .map((file) => file.replace(/\.ts$/, ""))
      .sort()
    assert.deepStrictEqual(Object.keys(migrations), files)
    assert.deepStrictEqual(
      files.map((file) => Number(file.slice(0, 4))),
      files.map((_, index) => index + 1)
    )
  })

  it.live("run once, however many programs start at the same time", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase({ migrated: false })
      yield* Effect.all(
        globalThis.Array.from({ length: 5 }, () => Effect.flatMap(reached(url), migrate)),
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

interface Column {
  readonly name: string
  readonly isNullable: boolean
}

interface Schema {
  readonly columns: Readonly<Record<string, ReadonlyArray<string>>>
  readonly uniques: Readonly<Record<string, ReadonlyArray<string>>>
}

const byTable = <A>(
  rows: ReadonlyArray<{ readonly table: string } & A>,
  text: (row: A) => string
): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    Object.entries(Array.groupBy(rows, ({ table }) => table)).map(([table, some]) => [table, some.map(text).sort()])
  )

const describeColumn = ({ isNullable, name }: Column): string => (isNullable ? `${name}?` : name)

/** The condition of a partial index, without the punctuation in which the engines differ. */
const conditionOf = (text: string | null): string =>
  (text ?? "")
    .replace(/::text|[()"]/g, "")
    .replace(/\s+/g, " ")
    .trim()

const sqliteSchema = Effect.gen(function* () {
  const path = yield* freshPath
  yield* Effect.provide(Effect.void, servicesAt(path))
  const db = yield* rawAt(path, { readonly: true })
  const all = <Row>(text: string) => db.prepare<[], Row>(text).all()
  const columns = all<Column & { table: string }>(
    `SELECT m.name AS "table", c.name, c."notnull" = 0 AND c.pk = 0 AS isNullable
      FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`
  )
  const uniques = all<{ table: string; columns: string; text: string | null }>(
    `SELECT m.name AS "table", i.name AS index_name, s.sql AS text,
        (SELECT group_concat(c.name, ' ') FROM pragma_index_info(i.name) c) AS columns
      FROM sqlite_schema m JOIN pragma_index_list(m.name) i LEFT JOIN sqlite_schema s ON s.name = i.name
      WHERE m.type = 'table' AND i."unique" = 1`
  )
  const rowids = all<{ table: string; columns: string }>(
    `SELECT m.name AS "table", c.name AS columns FROM sqlite_schema m JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' AND c.pk = 1 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) WHERE origin = 'pk')`
  )
  const schema: Schema = {
    columns: byTable(columns, describeColumn),
    uniques: byTable([...uniques, ...rowids.map((row) => ({ ...row, text: null }))], ({ columns, text }) =>
      `${columns} ${conditionOf(text?.split(/ WHERE /)[1] ?? null)}`.trim()
    )
  }
  return schema
})

const postgresSchema = Effect.gen(function* () {
  const { name } = yield* freshDatabase()
  return yield* onServer(name, async (client) => {
    const columns = await client.query<Column & { table: string }>(
      `SELECT table_name AS "table", column_name AS name, is_nullable = 'YES' AND table_name <> 'audit_totals' AS "isNullable"
        FROM information_schema.columns WHERE table_schema = 'public'`
    )
    const uniques = await client.query<{ table: string; columns: string; condition: string | null }>(
      `SELECT c.relname AS "table", pg_get_expr(i.indpred, i.indrelid) AS condition,
          (SELECT string_agg(a.attname, ' ' ORDER BY k.number)
            FROM unnest(i.indkey::int[]) WITH ORDINALITY k (attnum, number)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum) AS columns
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace`
    )
    const text = await client.query(
      `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`
    )
    assert.deepStrictEqual(text.rows, [], "text that is not compared by bytes")
    const schema: Schema = {
      columns: byTable(columns.rows, describeColumn),
      uniques: byTable(uniques.rows, ({ columns, condition }) => `${columns} ${conditionOf(condition)}`.trim())
    }
    return schema
  })
})

describe("the schema of PostgreSQL", () => {
  it.live("is SQLite's: the same tables, columns, nullability and unique indexes, but for what is listed", () =>
    Effect.gen(function* () {
      const sqlite = yield* sqliteSchema
      const postgres = yield* postgresSchema
      const { effect_sql_migrations: _record, audit_times: sqliteTimes, ...sqliteColumns } = sqlite.columns
      const {
        schema_migrations: _own,
        schema_info: _info,
        erasures: _erasures,
        audit_log_totals: logTotals,
        audit_times: times,
        ...columns
      } = postgres.columns
      assert.deepStrictEqual(columns, sqliteColumns)
      // Rows that all writers would update belong to a log each: `audit_totals` is a view of the totals of the logs.
      assert.deepStrictEqual(sqliteTimes, ["block", "newest", "oldest"])
      assert.deepStrictEqual(times, ["block", "log", "newest", "oldest"])
      assert.deepStrictEqual(logTotals, ["action", "entries", "log", "resource_type"])

      const {
        effect_sql_migrations: _recordKey,
        audit_times: _sqliteTimesKey,
        audit_totals: _totalsKey,
        ...sqliteUniques
      } = sqlite.uniques
      const {
        schema_migrations: _ownKey,
        schema_info: _infoKey,
        erasures: _erasuresKey,
        audit_log_totals: logTotalsKey,
        audit_times: timesKey,
        ...uniques
      } = postgres.uniques
      assert.deepStrictEqual(uniques, sqliteUniques)
      assert.deepStrictEqual([timesKey, logTotalsKey], [["block log"], ["log action resource_type"]])
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
