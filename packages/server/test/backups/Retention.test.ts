import type { Backup } from "@coffer/domain/Backup"
import { BackupId } from "@coffer/domain/Names"
import { expired } from "@coffer/server/backups/Retention"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

const day = 24 * 60 * 60 * 1000
let ids = 0

const at = (moment: number | string, trigger = "scheduled"): Backup => ({
  id: BackupId.make(`0192f0c1-5b7e-7c3a-9d2e-${(++ids).toString(16).padStart(12, "0")}`),
  created_at: new Date(moment).toISOString(),
  size_bytes: 1,
  trigger,
  key_fingerprint: "0".repeat(16),
  instance: "0192f0c1-5b7e-4c3a-9d2e-000000000000"
})

/** The year and week that ISO 8601 gives a moment: those of its week's Thursday. */
const isoWeek = (moment: number): string => {
  const thursday = new Date(moment)
  thursday.setUTCDate(thursday.getUTCDate() - ((thursday.getUTCDay() + 6) % 7) + 3)
  const ordinal =
    (Date.UTC(thursday.getUTCFullYear(), thursday.getUTCMonth(), thursday.getUTCDate()) -
      Date.UTC(thursday.getUTCFullYear(), 0, 1)) /
    day
  return `${thursday.getUTCFullYear()}-W${Math.floor(ordinal / 7) + 1}`
}

const isoDay = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

/** The rule in its own words: what is kept, by the names of the days and weeks. */
const kept = (backups: ReadonlyArray<Backup>, now: number, days: number, weeks: number): ReadonlySet<string> => {
  const newestOf = (period: string, name: (moment: number) => string) =>
    backups
      .filter(({ created_at }) => isoDay(Date.parse(created_at)) <= isoDay(now))
      .filter(({ created_at }) => name(Date.parse(created_at)) === period)
      .sort((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1))
      .at(-1)?.id
  const lastDays = Array.from({ length: days }, (_, back) => isoDay(now - back * day))
  const lastWeeks = Array.from({ length: weeks }, (_, back) => isoWeek(now - back * 7 * day))
  return new Set([
    ...lastDays.map((period) => newestOf(period, isoDay) ?? ""),
    ...lastWeeks.map((period) => newestOf(period, isoWeek) ?? ""),
    ...backups.filter(({ created_at }) => isoDay(Date.parse(created_at)) > isoDay(now)).map(({ id }) => id)
  ])
}

const moment = fc.integer({ min: Date.UTC(2019, 10, 1), max: Date.UTC(2021, 2, 1) })

describe("retention", () => {
  it("keeps what the rule names and deletes the rest, whatever the backups", () => {
    fc.assert(
      fc.property(
        moment,
        fc.array(fc.tuple(fc.integer({ min: -3 * day, max: 60 * day }), fc.constantFrom("manual", "scheduled")), {
          maxLength: 60
        }),
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: 0, max: 8 }),
        (now, ages, days, weeks) => {
          const backups = ages.map(([age, trigger]) => at(now - age, trigger))
          const gone = new Set(expired(backups, now, { days, weeks }).map(({ id }) => id))
          const keeps = kept(backups, now, days, weeks)
          for (const { created_at, id } of backups) assert.strictEqual(gone.has(id), !keeps.has(id), created_at)
        }
      ),
      { numRuns: 500 }
    )
  })

  it("deletes nothing more when it is asked again, and never the newest", () => {
    fc.assert(
      fc.property(
        moment,
        fc.array(fc.integer({ min: 0, max: 60 * day }), { minLength: 1, maxLength: 40 }),
        (now, ages) => {
          const backups = [at(now), ...ages.map((age) => at(now - age))]
          const rule = { days: 7, weeks: 4 }
          const gone = new Set(expired(backups, now, rule))
          const rest = backups.filter((backup) => !gone.has(backup))
          assert.deepStrictEqual(expired(rest, now, rule), [])
          assert.include(
            rest.map(({ created_at }) => created_at),
            new Date(now).toISOString()
          )
        }
      )
    )
  })

  it("counts days and ISO weeks in UTC, across a year's end", () => {
    // 2020-12-31 is a Thursday of 2020-W53, as are the Friday to Sunday after it.
    const backups = [
      "2020-12-27T23:59:59.999Z",
      "2020-12-28T00:00:00.000Z",
      "2020-12-31T12:00:00.000Z",
      "2021-01-03T23:59:59.999Z",
      "2021-01-04T00:00:00.000Z",
      "2021-01-04T08:00:00.000Z"
    ].map((moment) => at(moment))
    const gone = (days: number, weeks: number) =>
      expired(backups, Date.parse("2021-01-04T09:00:00.000Z"), { days, weeks })
        .map(({ created_at }) => created_at.slice(0, 13))
        .sort()
    assert.deepStrictEqual(gone(1, 2), ["2020-12-27T23", "2020-12-28T00", "2020-12-31T12", "2021-01-04T00"])
    assert.deepStrictEqual(gone(0, 3), ["2020-12-28T00", "2020-12-31T12", "2021-01-04T00"])
    assert.deepStrictEqual(gone(8, 0), ["2020-12-27T23", "2021-01-04T00"])
  })
})
