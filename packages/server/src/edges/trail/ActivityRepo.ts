import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import { makeRanges } from "../../audit/Ranges.js"
import { type Filters, matchStatements, searchValues } from "../../audit/Search.js"

const CountRow = Schema.Struct({
  time: Schema.String,
  action: Schema.String,
  actor_name: Schema.String,
  entries: Schema.Number
})
export type CountRow = typeof CountRow.Type

const MatchRow = Schema.Struct({ ...CountRow.fields, oldest: Schema.Number })
const MomentRow = Schema.Struct({ created_at: Schema.String })
const LastRow = Schema.Struct({ position: Schema.NullOr(Schema.Number) })

/** Positions from one to below another one. */
export interface Positions {
  readonly from: number
  readonly below: number
}

/** The part of a time in `created_at` down to a unit. */
const units = {
  second: sql`substr(created_at, 1, 19)`,
  minute: sql`substr(created_at, 1, 16)`,
  hour: sql`substr(created_at, 1, 13)`,
  day: sql`substr(created_at, 1, 10)`
}
export type Unit = keyof typeof units

/** Counts entries of a log by time, action and actor. */
export const activityRepo = Effect.gen(function* () {
  const { all, first, one, run } = yield* query
  const { endOf, positionsOf, rangeOf } = yield* makeRanges

  const countsBy = (unit: Unit) => all(CountRow)`
    SELECT ${units[unit]} AS time, action, actor_name, count(*) AS entries FROM audit_entries
    WHERE log = ${"log"} AND seq >= ${"from"} AND seq < ${"below"} GROUP BY 1, 2, 3`
  const statements = {
    second: countsBy("second"),
    minute: countsBy("minute"),
    hour: countsBy("hour"),
    day: countsBy("day")
  }

  const matches = run(MatchRow)
  const last = one(LastRow)`SELECT max(position) AS position FROM audit_entries`

  return {
    endOf,
    rangeOf,

    /** The positions of a range of numbers of a log, as filters search it. */
    positionsOf: Effect.fnUntraced(function* (filters: Filters, from: number, below: number) {
      const found = yield* positionsOf(filters, { from, below, times: null })
      const end = ((yield* last({})).position ?? 0) + 1
      const positions: Positions = { from: found.from ?? 0, below: Math.min(found.below ?? end, end) }
      return positions
    }),

    /** The time of the first entry from a number on. */
    momentFrom: first(MomentRow)`
      SELECT created_at FROM audit_entries WHERE log = ${"log"} AND seq >= ${"seq"} ORDER BY seq LIMIT 1`,

    /** Counts the entries from a number to below another one. `time` is cut off after the unit. */
    counts: (unit: Unit, log: string, from: number, below: number) => statements[unit]({ log, from, below }),

    /** Counts the entries at some positions that match, up to a limit. `oldest` is the first position of a row. */
    matches: Effect.fnUntraced(function* (unit: Unit, filters: Filters, { below, from }: Positions, limit: number) {
      const range = { from, below, times: null }
      const values = searchValues(filters, range, { from, below }, limit)
      const counted = yield* Effect.forEach(matchStatements(filters, range), (found) =>
        matches(
          sql`SELECT ${units[unit]} AS time, a.action AS action, a.actor_name AS actor_name, count(*) AS entries,
              min(a.position) AS oldest
            FROM (${found}) AS f CROSS JOIN audit_entries a WHERE a.position = f.position GROUP BY 1, 2, 3`,
          values
        )
      )
      return counted.flat()
    }),

    /** The time of the entry at a position. */
    momentAt: first(MomentRow)`SELECT created_at FROM audit_entries WHERE position = ${"position"}`
  } as const
})
