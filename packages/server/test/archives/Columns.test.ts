import { query } from "@coffer/server/database/Query"
import { Effect, Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { freshPlace, isOnPostgres, servicesIn } from "../support/Services.js"
import { columns, without } from "./Columns.js"
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

/** The paths that the columns name. */
const named = Object.values(columns).flatMap((table) =>
  Object.values(table).flatMap((column) => ("field" in column ? [column.field] : []))
)

describe("an archive", () => {
  it("has each field that a column is said to travel in", () => {
    assert.isAbove(fields.length, 60)
    assert.deepStrictEqual(
      named.filter((path) => !fields.some((field) => isWithin(field, path))),
      []
    )
  })

  it("has no field that no column travels in", () => {
    assert.deepStrictEqual(
      fields.filter((field) => !named.some((path) => isWithin(field, path))),
      []
    )
  })

  it.effect("carries each column of each table, or says why not", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const tables = yield* Effect.provide(schema, servicesIn(place))
      assert.isAbove(tables.size, 40)
      for (const [table, found] of tables) {
        if (without[table] !== undefined) continue
        assert.deepStrictEqual(Object.keys(columns[table] ?? {}).sort(), found.sort(), `the columns of ${table}`)
      }
      assert.deepStrictEqual(
        Object.keys(columns).filter((table) => !tables.has(table)),
        []
      )
    }).pipe(Effect.scoped)
  )
})
