import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import { makeRanges } from "../../audit/Ranges.js"

const CountRow = Schema.Struct({
  time: Schema.String,
  action: Schema.String,
  actor_name: Schema.String,
  entries: Schema.Number
})
export type CountRow = typeof CountRow.Type

const MomentRow = Schema.Struct({ created_at: Schema.String })

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
  const { all, first } = yield* query
  const { endOf, rangeOf } = yield* makeRanges

  const countsBy = (unit: Unit) => all(CountRow)`
    SELECT ${units[unit]} AS time, action, actor_name, count(*) AS entries FROM audit_entries
    WHERE log = ${"log"} AND seq >= ${"from"} AND seq < ${"below"} GROUP BY 1, 2, 3`
  const statements = {
    second: countsBy("second"),
    minute: countsBy("minute"),
    hour: countsBy("hour"),
    day: countsBy("day")
  }

  return {
    endOf,
    rangeOf,

    /** The time of the first entry from a number on. */
    momentFrom: first(MomentRow)`
      SELECT created_at FROM audit_entries WHERE log = ${"log"} AND seq >= ${"seq"} ORDER BY seq LIMIT 1`,

    /** Counts the entries from a number to below another one. `time` is cut off after the unit. */
    counts: (unit: Unit, log: string, from: number, below: number) => statements[unit]({ log, from, below })
  } as const
})
