import type { Backup } from "@coffer/domain/server/Backup"
import { BackupId } from "@coffer/domain/base/Ids"
import {
  keepReason,
  removalReason,
  retain,
  type RetentionFacts,
  type RetentionRule
} from "@coffer/server/operations/backups/Retention"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../../../domain/test/support/Runs.js"

const hour = 60 * 60 * 1000
const day = 24 * hour
const instance = "0192f0c1-5b7e-4c3a-9d2e-000000000000"
const stranger = "0192f0c1-5b7e-4c3a-9d2e-000000000001"
let ids = 0

const at = (moment: number | string, trigger = "scheduled", ofInstance = instance): Backup => ({
  id: BackupId.make(`0192f0c1-5b7e-7c3a-9d2e-${(++ids).toString(16).padStart(12, "0")}`),
  created_at: new Date(moment).toISOString(),
  size_bytes: 1,
  trigger,
  key_fingerprint: "0".repeat(16),
  instance: ofInstance
})

const made = ({ created_at }: Backup) => Date.parse(created_at)
const isoDay = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

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

const nothingKnown: RetentionFacts = { instance, restores: [], damaged: new Set() }

const moment = fc.integer({ min: Date.UTC(2019, 10, 1), max: Date.UTC(2021, 2, 1) })

interface Case {
  readonly now: number
  readonly backups: ReadonlyArray<Backup>
  readonly rule: RetentionRule
  readonly known: RetentionFacts
}

/** Any backups at all: of several instances, of the future, damaged, before and after restores. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    now: moment,
    ages: fc.array(
      fc.record({
        age: fc.oneof(fc.integer({ min: -2 * day, max: 3 * day }), fc.integer({ min: 0, max: 90 * day })),
        trigger: fc.constantFrom("manual", "scheduled", "scheduled", "scheduled"),
        ofInstance: fc.constantFrom(instance, instance, instance, stranger),
        damaged: fc.integer({ min: 0, max: 9 })
      }),
      { maxLength: 60 }
    ),
    days: fc.integer({ min: 0, max: 10 }),
    weeks: fc.integer({ min: 0, max: 8 }),
    scheduleHours: fc.constantFrom(1, 6, 24, 168),
    restores: fc.array(
      fc.record({
        from: fc.integer({ min: 0, max: 90 * day }),
        after: fc.integer({ min: 0, max: 30 * day })
      }),
      { maxLength: 2 }
    )
  })
  .map(({ ages, days, now, restores, scheduleHours, weeks }) => {
    const backups = ages.map(({ age, damaged, ofInstance, trigger }) => ({
      backup: at(now - age, trigger, ofInstance),
      damaged: damaged === 0
    }))
    return {
      now,
      backups: backups.map(({ backup }) => backup),
      rule: { days, weeks, scheduleHours },
      known: {
        instance,
        damaged: new Set(backups.flatMap(({ backup, damaged }) => (damaged ? [backup.id] : []))),
        restores: restores.map(({ after, from }) => ({ from: now - from, appliedAt: now - from + after }))
      }
    }
  })

const removedOf = ({ backups, known, now, rule }: Case) => retain(backups, now, rule, known).removed

const holds = (property: (given: Case) => void) => {
  fc.assert(fc.property(cases, property), { numRuns: runs(1_000) })
}

describe("the retention", () => {
  it("decides about each backup once", () => {
    holds(({ backups, known, now, rule }) => {
      const { kept, removed } = retain(backups, now, rule, known)
      assert.sameMembers(
        [...kept, ...removed].map(({ backup }) => backup.id),
        backups.map(({ id }) => id)
      )
    })
  })

  it("never removes the newest backup, nor the newest good one", () => {
    holds((given) => {
      const own = given.backups.filter((backup) => backup.instance === instance && made(backup) <= given.now)
      const newestOf = (backups: ReadonlyArray<Backup>) =>
        [...backups].sort((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1)).at(-1)?.id
      const gone = removedOf(given).map(({ backup }) => backup.id)
      assert.notInclude(gone, newestOf(own.filter(({ id }) => !given.known.damaged.has(id))))
      // One that a drill found damaged may be the newest; it goes by its age alone.
      if (given.known.damaged.size === 0) assert.notInclude(gone, newestOf(own))
    })
  })

  it("never removes a backup of another instance", () => {
    holds((given) => {
      assert.isTrue(removedOf(given).every(({ backup }) => backup.instance === instance))
    })
  })

  it("removes a manual backup by its age alone, and by no rule of the day or the week", () => {
    holds((given) => {
      for (const { backup, by } of removedOf(given)) if (backup.trigger === "manual") assert.strictEqual(by, "age")
    })
  })

  it("never removes what is newer than a backup that was restored since", () => {
    holds((given) => {
      for (const { backup } of removedOf(given)) {
        for (const { appliedAt, from } of given.known.restores)
          assert.isFalse(from <= made(backup) && made(backup) <= appliedAt)
      }
    })
  })

  it("removes nothing for 7 days after a restore", () => {
    holds((given) => {
      if (given.known.restores.some(({ appliedAt }) => given.now < appliedAt + 7 * day))
        assert.deepStrictEqual(removedOf(given), [])
    })
  })

  it("removes nothing of the future", () => {
    holds((given) => {
      assert.isTrue(removedOf(given).every(({ backup }) => made(backup) <= given.now))
    })
  })

  it("removes nothing more when it is asked again at the same moment", () => {
    holds((given) => {
      const gone = new Set(removedOf(given).map(({ backup }) => backup))
      const rest = given.backups.filter((backup) => !gone.has(backup))
      assert.deepStrictEqual(removedOf({ ...given, backups: rest }), [])
    })
  })

  it("keeps the newest of each of the last days, and one of each of the last ISO weeks", () => {
    holds((given) => {
      const { backups, known, now, rule } = given
      const good = backups.filter(
        (backup) => backup.instance === instance && made(backup) <= now && !known.damaged.has(backup.id)
      )
      const gone = new Set<string>(removedOf(given).map(({ backup }) => backup.id))
      const newestOf = (name: (moment: number) => string, period: string) =>
        good
          .filter((backup) => name(made(backup)) === period)
          .sort((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1))
          .at(-1)?.id
      for (let back = 0; back < rule.days; back++) {
        assert.isFalse(gone.has(newestOf(isoDay, isoDay(now - back * day)) ?? ""))
      }
      for (let back = 0; back < rule.weeks; back++) {
        assert.isFalse(gone.has(newestOf(isoWeek, isoWeek(now - back * 7 * day)) ?? ""))
      }
    })
  })

  it("keeps exactly the days and weeks of its rule when no scheduled backup is missing and nothing else is known", () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: 0, max: 10 }), fc.integer({ min: 1, max: 8 }), (now, days, weeks) => {
        const backups = Array.from({ length: 80 * 4 }, (_, index) => at(now - index * 6 * hour))
        const rule = { days, weeks, scheduleHours: 6 }
        const keeps = new Set([
          ...Array.from({ length: days }, (_, back) => isoDay(now - back * day)),
          ...Array.from({ length: weeks }, (_, back) => isoWeek(now - back * 7 * day))
        ])
        const kept = retain(backups, now, rule, nothingKnown).kept.map(({ backup }) => backup)
        for (const backup of kept) {
          assert.isTrue(keeps.has(isoDay(made(backup))) || keeps.has(isoWeek(made(backup))), backup.created_at)
        }
        const names = kept.map(made)
        const firsts = new Set([...names.map(isoDay), ...names.map(isoWeek)])
        for (const period of keeps) assert.isTrue(firsts.has(period), period)
        assert.isAtMost(kept.length, days + weeks)
      }),
      { numRuns: runs(100) }
    )
  })

  const yearAhead = 365 * day
  const now = Date.parse("2026-03-05T12:00:00.000Z")
  const daily = Array.from({ length: 5 }, (_, index) => at(now - index * day))
  const rule = { days: 7, weeks: 4, scheduleHours: 24 }

  it("removes nothing when the clock is a year ahead for a moment, and goes by numbers of days when it stays so", () => {
    const ahead = Array.from({ length: 6 }, (_, index) => at(now + yearAhead + index * day))
    for (const [index, wrong] of ahead.entries()) {
      const backups = [...daily, ...ahead.slice(0, index + 1)]
      const { held, kept, removed } = retain(backups, made(wrong), rule, nothingKnown)
      assert.strictEqual(held, index === 0 ? "clock" : null)
      // Five right ones and two wrong ones are of seven days.
      if (index < 2) assert.deepStrictEqual(removed, [])
      assert.isAtLeast(kept.length, Math.min(backups.length, rule.days))
      assert.include(
        kept.map(({ backup }) => backup),
        daily[0]
      )
    }
    // The clock is right again: those of the future neither go nor take anybody's place.
    const later = [...daily, ...ahead, at(now + day)]
    assert.deepStrictEqual(retain(later, now + day, rule, nothingKnown).removed, [])
  })

  it("removes nothing when no backup was made for longer than the rules explain", () => {
    const dense = Array.from({ length: 40 }, (_, index) => at(now - index * day))
    const late = at(now + 8 * day)
    assert.strictEqual(retain([...dense, late], made(late), rule, nothingKnown).held, "clock")
    const soon = at(now + 6 * day)
    assert.isAbove(retain([...dense, soon], made(soon), rule, nothingKnown).removed.length, 0)
  })

  it("keeps what was made since a backup that was restored, also once its 7 days are over", () => {
    const today = Array.from({ length: 8 }, (_, index) => at(now - index * hour))
    const restores = [{ from: now - 7 * hour, appliedAt: now }]
    const after = at(now + hour)
    const known = { ...nothingKnown, restores }
    assert.strictEqual(retain([...today, after], made(after), rule, known).held, "restore")
    const days = Array.from({ length: 30 }, (_, index) => at(now + (index + 1) * day))
    const { kept, removed } = retain([...today, after, ...days], now + 30 * day, rule, known)
    assert.includeDeepMembers(
      [...kept],
      today.map((backup) => ({ backup, by: "restored" }))
    )
    assert.include(
      removed.map(({ backup }) => backup),
      after
    )
  })

  it("counts days and ISO weeks in UTC, across a year's end, and tells the rule of each", () => {
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
      Object.fromEntries(
        retain(backups, Date.parse("2021-01-04T09:00:00.000Z"), { days, weeks, scheduleHours: 24 }, nothingKnown)
          .removed.map(({ backup, by }) => [backup.created_at.slice(0, 13), by])
          .reverse()
      )
    assert.deepStrictEqual(gone(1, 2), {
      "2020-12-27T23": "age",
      "2020-12-28T00": "week",
      "2020-12-31T12": "week",
      "2021-01-04T00": "day"
    })
    assert.deepStrictEqual(gone(0, 3), { "2020-12-28T00": "week", "2020-12-31T12": "week", "2021-01-04T00": "week" })
    assert.deepStrictEqual(gone(8, 0), { "2021-01-04T00": "day" })
  })

  it("lets no damaged backup take the place of a good one", () => {
    const [newest, good, ...older] = Array.from({ length: 4 }, (_, index) => at(now - index * hour))
    assert(newest !== undefined && good !== undefined)
    const known = { ...nothingKnown, damaged: new Set([newest.id]) }
    const { kept, removed } = retain([newest, good, ...older], now, { ...rule, days: 1, weeks: 0 }, known)
    assert.deepStrictEqual(kept, [
      { backup: newest, by: "damaged" },
      { backup: good, by: "newest" }
    ])
    assert.deepStrictEqual(
      removed.map(({ backup }) => backup),
      older
    )
  })

  it("removes a damaged backup by its age, older than all kept days and weeks, however few days there are", () => {
    const [newest, old, older] = [now, now - 8 * day, now - 15 * day].map((moment) => at(moment))
    assert(newest !== undefined && old !== undefined && older !== undefined)
    const known = { ...nothingKnown, damaged: new Set([older.id]) }
    const by = (days: number, weeks: number) =>
      retain([newest, old, older], now, { days, weeks, scheduleHours: 168 }, known).removed.map((one) => one.by)
    assert.deepStrictEqual(by(2, 2), ["age"])
    assert.deepStrictEqual(by(3, 0), [], "two days are fewer than the rule keeps")
  })

  it("takes a pause for one that the rules explain up to the days, two days or two intervals, whichever is longest", () => {
    for (const [days, scheduleHours, pause] of [
      [0, 1, 2],
      [1, 24, 2],
      [5, 24, 5],
      [1, 168, 14]
    ] as const) {
      const [before, last] = [at(now - pause * day), at(now)]
      const held = (moment: number, ...backups: ReadonlyArray<Backup>) =>
        retain(backups, moment, { days, weeks: 0, scheduleHours }, nothingKnown).held
      assert.isNull(held(now, before, last), `between backups ${pause}`)
      assert.strictEqual(held(now, at(now - pause * day - 1), last), "clock", `between backups ${pause}`)
      assert.isNull(held(now + pause * day, last), `since the last one ${pause}`)
      assert.strictEqual(held(now + pause * day + 1, last), "clock", `since the last one ${pause}`)
    }
  })

  it("applies the rules again 7 days after a restore, to what is older than the restored backup", () => {
    const backups = Array.from({ length: 20 }, (_, index) => at(now - index * day))
    const restored = { ...nothingKnown, restores: [{ from: now - 9 * day, appliedAt: now - 7 * day }] }
    const { held, kept, removed } = retain(backups, now, { days: 2, weeks: 0, scheduleHours: 24 }, restored)
    assert.isNull(held)
    assert.deepStrictEqual(
      kept.map(({ backup, by }) => [(now - made(backup)) / day, by]),
      [
        [0, "newest"],
        [1, "day"],
        [7, "restored"],
        [8, "restored"],
        [9, "restored"]
      ]
    )
    assert.lengthOf(removed, 15)
    const earlier = retain(backups, now - 1, { days: 2, weeks: 0, scheduleHours: 24 }, restored)
    assert.strictEqual(earlier.held, "restore")
  })

  it("takes the one with the later id for newer of two at the same moment", () => {
    const [one, other] = [at(now), at(now)]
    for (const backups of [
      [one, other],
      [other, one]
    ]) {
      const { kept, removed } = retain(backups, now, { ...rule, days: 1, weeks: 0 }, nothingKnown)
      assert.deepStrictEqual(kept, [{ backup: other, by: "newest" }])
      assert.deepStrictEqual(removed, [{ backup: one, by: "day" }])
    }
  })

  it("says in words why a backup is kept or removed", () => {
    assert.strictEqual(keepReason("newest"), "it is the newest good one")
    assert.strictEqual(removalReason("day"), "a newer backup of its day is kept")
  })
})
