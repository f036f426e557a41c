import { blockOf, makeRanges } from "@coffer/server/audit/Ranges"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"
import { hasty, holds, onEverything } from "../model/Support.js"
import { newOrganization, write } from "../trail/Support.js"

const start = Date.UTC(2026, 0, 31, 8)
const minute = 60_000
const lastMinute = 12

/** A bound of a range in minutes from the start, and a millisecond more or less than those of the entries. */
const bound = fc.option(
  fc
    .tuple(fc.integer({ min: -1, max: lastMinute + 1 }), fc.constantFrom(-1, 0, 1))
    .map(([minutes, more]) => new Date(start + minutes * minute + more).toISOString())
)
const times = fc.record({ since: bound, until: bound })
const below = fc.option(fc.integer({ min: 0, max: 5_000 }))

interface Entry {
  readonly position: number
  readonly log: string
  readonly seq: number
  readonly created_at: string
}

/**
 * Some thousand entries of three logs, several of each minute. The clock is set back in between, which a log ignores: so
 * neither are all logs together in the order of time.
 */
const filled = Effect.gen(function* () {
  yield* hasty
  yield* TestClock.setTime(start)
  const logs = [(yield* newOrganization("acme")).id, (yield* newOrganization("other", "bob@example.com")).id, null]
  for (const [index, minutes] of [0, 3, 1, 5, 5, 2, 8, 7, lastMinute].entries()) {
    yield* TestClock.setTime(start + minutes * minute)
    const [first, second, third] = logs.map((_, at) => logs[(at + index) % logs.length] ?? null)
    yield* write(first ?? null, {}, ...Array.from({ length: 300 + 40 * index }, () => ({})))
    yield* write(second ?? null, {})
    yield* write(third ?? null, {}, ...Array.from({ length: 7 }, () => ({})))
  }
  const sql = yield* SqlClient.SqlClient
  const entries = yield* sql<Entry>`SELECT position, log, seq, created_at FROM audit_entries ORDER BY position`
  assert.isAbove(blockOf(entries.at(-1)?.position ?? 0), 2)
  return entries
})

const isWithin = ({ created_at }: Entry, since: string | null, until: string | null): boolean =>
  (since === null || created_at >= since) && (until === null || created_at < until)

const isBetween = (number: number, from: number | null, below: number | null): boolean =>
  (from === null || number >= from) && (below === null || number < below)

const seqs = (entries: ReadonlyArray<Entry>): ReadonlyArray<number> => entries.map(({ seq }) => seq)

describe("a range of time", () => {
  it.effect(
    "is in one log the numbers of exactly its entries, and as positions the same entries",
    () =>
      Effect.gen(function* () {
        const all = yield* filled
        const logs = [...new Set(all.map(({ log }) => log))]
        const { endOf, positionsOf, rangeOf } = yield* makeRanges
        yield* holds(
          fc.record({ log: fc.constantFrom(...logs, "nothing"), times, below }),
          ({ below, log, times }) =>
            Effect.gen(function* () {
              const entries = all.filter((entry) => entry.log === log)
              const expected = entries.filter(
                (entry) => isWithin(entry, times.since, times.until) && isBetween(entry.seq, null, below)
              )
              const range = yield* rangeOf(log, times, below)
              assert.isNull(range.times)
              assert.deepStrictEqual(
                seqs(entries.filter(({ seq }) => isBetween(seq, range.from, range.below))),
                seqs(expected)
              )
              assert.strictEqual(yield* endOf(log), entries.length + 1)

              const bounds = yield* positionsOf({ log, key: "A" }, range)
              assert.deepStrictEqual(
                seqs(entries.filter(({ position }) => isBetween(position, bounds.from, bounds.below))),
                seqs(expected)
              )
              const { times: _, ...same } = range
              assert.deepStrictEqual(yield* positionsOf({ log }, range), same)
            }),
          { numRuns: runs(200) }
        )
      }).pipe(onEverything),
    120_000
  )

  it.effect(
    "is over all logs the fewest whole blocks that have all of its entries, whose times are checked as well",
    () =>
      Effect.gen(function* () {
        const all = yield* filled
        const { rangeOf } = yield* makeRanges
        yield* holds(
          fc.record({ times, below }),
          ({ below, times: { since, until } }) =>
            Effect.gen(function* () {
              const range = yield* rangeOf(undefined, { since, until }, below)
              if (since === null && until === null) {
                assert.deepStrictEqual(range, { from: null, below, times: null })
                return
              }
              assert.deepStrictEqual(range.times, { since, until })
              const late = all.filter((entry) => isWithin(entry, since, null)).map(({ position }) => blockOf(position))
              const early = all.filter((entry) => isWithin(entry, null, until)).map(({ position }) => blockOf(position))
              const isExpected = ({ position }: Entry): boolean =>
                (since === null || blockOf(position) >= Math.min(...late)) &&
                (until === null || blockOf(position) <= Math.max(...early)) &&
                isBetween(position, null, below)
              assert.deepStrictEqual(
                all.filter(({ position }) => isBetween(position, range.from, range.below)),
                all.filter(isExpected)
              )
            }),
          { numRuns: runs(200) }
        )
      }).pipe(onEverything),
    120_000
  )
})
