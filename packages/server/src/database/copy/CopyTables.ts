import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { CopyFailed, type Source, type Target } from "./Sides.js"
import { tablesToCopy } from "./Tables.js"

/** The number of rows of each copied table. */
export type Counts = Readonly<Record<string, number>>

/** Called with the rows that are done, of all rows, and the table that is copied. */
export type Step = (done: number, total: number, table: string) => Effect.Effect<void>

const refuse = (reason: string) => new CopyFailed({ reason, full: false })

/** Counts the rows that a copy would have. Fails if the schemas do not fit. */
export const countTables = (source: Source, tables: Source["tables"] = source.tables) =>
  Effect.gen(function* () {
    const copied = yield* Either.mapLeft(tablesToCopy(source.tables, tables), refuse)
    return yield* Effect.forEach(copied, (table) => Effect.map(source.count(table), (rows) => ({ table, rows })))
  })

export const countsOf = (counted: Effect.Effect.Success<ReturnType<typeof countTables>>): Counts =>
  Object.fromEntries(counted.map(({ rows, table }) => [table.name, rows]))

/** Copies the rows of all tables into empty ones, batch by batch, and compares the numbers of rows afterwards. */
export const copyTables = (source: Source, target: Target, step: Step): Effect.Effect<Counts, CopyFailed> =>
  Effect.gen(function* () {
    const counted = yield* countTables(source, target.tables)
    const total = counted.reduce((sum, { rows }) => sum + rows, 0)
    let done = 0
    for (const { table } of counted) {
      yield* source.each(table, (rows) =>
        Effect.zipRight(
          target.insert(table, rows),
          Effect.suspend(() => step((done += rows.length), total, table.name))
        )
      )
    }
    for (const { rows, table } of counted) {
      const copied = yield* target.count(table)
      if (copied !== rows) return yield* refuse(`${table.name} has ${rows} rows, and its copy has ${copied}`)
    }
    return countsOf(counted)
  })
