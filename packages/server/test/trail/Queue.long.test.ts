import { setTimeout } from "node:timers/promises"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Access } from "@coffer/server/access/Access"
import { Members } from "@coffer/server/directory/members/Members"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { everythingIn, hasty, holds, onEverything } from "../model/Support.js"
import { freshPlace, invariantsIn, isOnPostgres, orgPath, person, transaction } from "../support/Services.js"
import fc from "fast-check"
import { by, entriesOf, type Log, newOrganization, read, verify, write } from "./Support.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

const count = (rows: ReadonlyArray<unknown>) => rows.length

/** Waits while a commit is under way: the test's clock does not go on meanwhile. */
const untilThereAre = (entries: number, log: Log) =>
  entriesOf(log.id).pipe(
    Effect.zipLeft(Effect.promise(() => setTimeout(1))),
    Effect.repeat({ until: (rows) => rows.length >= entries, times: 2_000 }),
    Effect.map((rows) => {
      assert.strictEqual(rows.length, entries)
    })
  )

describe("an entry of a read", () => {
  it.effect("is not there at once, and is there 50 milliseconds later", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      yield* TestClock.adjust("1 minute")
      for (let round = 1; round <= 3; round++) {
        yield* read(acme.id)
        assert.strictEqual(count(yield* entriesOf(acme.id)), round)
        yield* TestClock.adjust("50 millis")
        yield* untilThereAre(round + 1, acme)
      }
    }).pipe(onEverything)
  )

  it.effect("that was refused is one too: access.denied, with the action that was asked", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const access = yield* Access
      const bob = yield* person("bob@example.com")
      const asked = Effect.flip(by(bob)(access.org(orgPath("acme"), "audit.read")))
      assert.strictEqual((yield* asked)._tag, "NotFound", "an outsider is not told, nor recorded")
      const place = yield* by(acme.actor)(access.org(orgPath("acme"), "member.invite"))
      yield* transaction((yield* Members).invite(place, bob.email, "developer"))
      assert.strictEqual((yield* asked)._tag, "Forbidden")
      yield* TestClock.adjust("50 millis")
      yield* untilThereAre(3, acme)
      const found = (yield* entriesOf(acme.id)).map(({ action, metadata }) => [action, JSON.parse(metadata) as unknown])
      assert.deepStrictEqual(found.slice(2), [["access.denied", { action: "audit.read" }]])
    }).pipe(onEverything)
  )

  it.live("comes in the order of the reads, each once, many at the same time", () =>
    Effect.gen(function* () {
      yield* hasty
      const acme = yield* newOrganization("acme")
      yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, n) => n),
        (n) => Effect.zipRight(n % 100 === 0 ? Effect.sleep("3 millis") : Effect.void, read(acme.id, { n })),
        { concurrency: 10 }
      )
      yield* (yield* AuditLog).flush
      const found = (yield* entriesOf(acme.id))
        .slice(1)
        .map(({ metadata }) => (JSON.parse(metadata) as { n: number }).n)
      assert.strictEqual(found.length, 1_000)
      assert.strictEqual(new Set(found).size, 1_000)
      assert.isTrue((yield* verify(acme)).valid)
    }).pipe(onEverything)
  )

  // The queue is the same on both engines.
  it.effect.skipIf(isOnPostgres() && !isSoak)(
    "is written in the request's own time when the queue of 10,000 is full: no entry is lost",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const acme = yield* newOrganization("acme")
        for (let n = 0; n < 10_200; n++) yield* read(acme.id, { n })
        assert.strictEqual(count(yield* entriesOf(acme.id)), 1 + 200, "what did not fit already exists")
        yield* TestClock.adjust("50 millis")
        yield* (yield* AuditLog).flush
        const found = (yield* entriesOf(acme.id))
          .slice(1)
          .map(({ metadata }) => (JSON.parse(metadata) as { n: number }).n)
        assert.strictEqual(found.length, 10_200)
        assert.strictEqual(new Set(found).size, 10_200)
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 10_201 })
      }).pipe(onEverything),
    300_000
  )

  it.live(
    "survives the shutdown, whenever it comes",
    () =>
      Effect.gen(function* () {
        const place = yield* freshPlace
        const reads = [1, 3, 450]
        let wanted = 1
        const services = Effect.provide(everythingIn(place))
        const { id } = yield* services(Effect.scoped(Effect.tap(newOrganization("acme"), () => hasty)))
        for (const pause of ["none", "a yield", "1 millis", "24 millis", "26 millis"] as const) {
          for (const many of reads) {
            yield* services(
              Effect.gen(function* () {
                yield* hasty
                yield* Effect.sleep("2 millis")
                for (let n = 0; n < many; n++) yield* read(id, { n })
                yield* pause === "none" ? Effect.void : pause === "a yield" ? Effect.yieldNow() : Effect.sleep(pause)
              })
            )
            wanted += many
            const found = count(yield* services(entriesOf(id)))
            assert.strictEqual(found, wanted, `${many} reads, then ${pause}`)
          }
        }
        yield* invariantsIn(place)
      }).pipe(Effect.scoped),
    300_000
  )
})

describe("the moment of an entry", () => {
  const start = Date.UTC(2030, 0, 1)

  it.effect("is never before its predecessor's, when the clock steps back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const acme = yield* newOrganization("acme")
      yield* TestClock.setTime(start - 3_600_000)
      yield* write(acme.id)
      yield* read(acme.id)
      yield* (yield* AuditLog).flush
      const other = yield* newOrganization("other")
      yield* TestClock.setTime(start + 5)
      yield* write(acme.id)
      assert.deepStrictEqual(
        (yield* entriesOf(acme.id)).map(({ created_at }) => created_at),
        ["2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.005Z"]
      )
      const [first] = yield* entriesOf(other.id)
      assert.strictEqual(first!.created_at, "2029-12-31T23:00:00.000Z", "each log has its own predecessor")
      assert.isTrue((yield* verify(acme)).valid)
    }).pipe(onEverything)
  )

  it.effect("is the latest that the clock has shown to its log, for a clock that jumps at random", () =>
    Effect.gen(function* () {
      yield* hasty
      let begun = 0
      yield* holds(
        fc.array(fc.integer({ min: -100_000, max: 100_000 }), { maxLength: 20 }),
        (jumps) =>
          Effect.gen(function* () {
            let time = start + ++begun * 10_000_000
            let latest = time
            yield* TestClock.setTime(time)
            const acme = yield* newOrganization(`acme-${begun}`)
            const wanted = [time]
            for (const jump of jumps) {
              time += jump
              latest = Math.max(latest, time)
              wanted.push(latest)
              yield* TestClock.setTime(time)
              yield* write(acme.id)
            }
            const found = (yield* entriesOf(acme.id)).map(({ created_at }) => Date.parse(created_at))
            assert.deepStrictEqual(found, wanted)
          }),
        { numRuns: runs(20) }
      )
    }).pipe(onEverything)
  )
})
