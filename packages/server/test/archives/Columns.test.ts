import { query } from "@coffer/server/database/Query"
import { Effect, Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { freshPlace, isOnPostgres, servicesIn } from "../support/Services.js"
import { columnOf, columns, without } from "./Columns.js"
import { fields, isWithin } from "./Fields.js"

const ColumnRow = Schema.Struct({ table_name: Schema.String, column_name: Schema.String })

/** The columns of all tables of the schema, by table. */
const schema = Effect.gen(function* () {
  const { all } = yield* query
  const rows = isOnPostgres()
    ? yield* all(ColumnRow)`
        SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()`({})
    : yield* all(ColumnRow)`
        SELECT t.name AS table_name, c.name AS column_name FROM sqlite_master t, pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`({})
  const tables = new Map<string, Array<string>>()
  for (const { column_name, table_name } of rows) {
    tables.set(table_name, [...(tables.get(table_name) ?? []), column_name])
  }
  return tables
})

/** The columns of the tables of which an archive has something, and what becomes of them. */
const kept = Effect.gen(function* () {
  const place = yield* freshPlace
  const tables = yield* Effect.provide(schema, servicesIn(place))
  assert.isAbove(tables.size, 40)
  return [...tables]
    .filter(([table]) => without[table] === undefined)
    .flatMap(([table, names]) => names.map((name) => ({ name: `${table}.${name}`, column: columnOf(table, name) })))
})

describe("an archive", () => {
  it.scoped("carries each column of each table, or says why not", () =>
    Effect.gen(function* () {
      const found = yield* kept
      assert.deepStrictEqual(
        found.flatMap(({ column, name }) => (column === undefined ? [name] : [])),
        []
      )
      assert.includeMembers(
        found.map(({ name }) => name),
        Object.entries(columns).flatMap(([table, listed]) => Object.keys(listed).map((name) => `${table}.${name}`))
      )
    })
  )

  it.scoped("has each field that a column is said to travel in, and no other", () =>
    Effect.gen(function* () {
      assert.isAbove(fields.length, 60)
      const named = (yield* kept).flatMap(({ column }) =>
        column !== undefined && "field" in column ? [column.field] : []
      )
      assert.deepStrictEqual(
        named.filter((path) => !fields.some((field) => isWithin(field, path))),
        []
      )
      assert.deepStrictEqual(
        fields.filter((field) => !named.some((path) => isWithin(field, path))),
        []
      )
    })
  )
})
