import { Database } from "@coffer/server/database/Database"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import { logged } from "../support/Logged.js"
import { isOnPostgres, onDatabase } from "../support/Services.js"
import { add, added, passLeases, rows, server, withServers } from "./Support.js"

/** A period in which a test ends. */
const tidy = { name: "tidy", every: "36500 days", lease: "1 minute" } as const
const stream = { name: "stream", lease: "1 minute" } as const

/** A server whose transactions fail while `isCutOff`. */
const fragileServer = Effect.gen(function* () {
  const network = { isCutOff: false }
  const database = yield* Database
  const fragile = Database.of({
    ...database,
    transaction: (effect) => (network.isCutOff ? Effect.die("cut off") : database.transaction(effect))
  })
  return { network, jobs: yield* Effect.provideService(server, Database, fragile) }
})

describe("a job of a period", () => {
  it.live("is done by one of the servers that race for it, and by no server after that", () =>
    Effect.gen(function* () {
      const servers = yield* Effect.replicateEffect(server, 5)
      const done: Array<number> = []
      const race = Effect.forEach(
        servers,
        ({ run }, index) =>
          run(tidy, () =>
            Effect.delay(
              Effect.sync(() => done.push(index)),
              "50 millis"
            )
          ),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(Array.from(yield* race).filter(Option.isSome), 1)
      assert.lengthOf(Array.from(yield* race).filter(Option.isSome), 0)
      assert.lengthOf(done, 1)
      assert.deepStrictEqual(
        (yield* rows).map(({ name, token, until }) => ({ name, token, until })),
        [{ name: "tidy", token: 1, until: null }]
      )
    }).pipe(withServers)
  )

  it.live("is done again in the next one, and old rows go", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const bucket of ["2020-01-01T00:00:00.000Z", "9999-01-01T00:00:00.000Z"]) {
        yield* sql`INSERT INTO jobs ${sql.insert({ name: "tidy", bucket, holder: "", until: null, token: 1 })}`
      }
      const { run } = yield* server
      const often = { ...tidy, every: "100 millis" } as const
      let done = 0
      const count = Effect.sync(() => done++)
      for (let round = 1; round <= 2; round++) {
        while (Option.isNone(yield* run(often, () => count))) yield* Effect.sleep("10 millis")
        assert.strictEqual(done, round)
      }
      const buckets = (yield* rows).map(({ bucket }) => bucket)
      assert.lengthOf(buckets, 3)
      assert.notInclude(buckets, "2020-01-01T00:00:00.000Z")
    }).pipe(withServers)
  )

  it.live("is not repeated when it fails, and is free at once when it is interrupted", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* server, yield* server]
      const begun = yield* Deferred.make<void>()
      const working = yield* Effect.fork(
        one.run(tidy, () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never))
      )
      yield* Deferred.await(begun)
      assert.isTrue(Option.isNone(yield* two.run(tidy, () => Effect.void)))
      yield* Fiber.interrupt(working)
      assert.deepStrictEqual(yield* Effect.exit(two.run(tidy, () => Effect.fail("no"))), Exit.fail("no"))
      assert.isTrue(Option.isNone(yield* one.run(tidy, () => Effect.void)))
      assert.deepStrictEqual(
        (yield* rows).map(({ token }) => token),
        [2]
      )
    }).pipe(withServers)
  )
})

describe("the lease of a job", () => {
  it.live("is renewed while its holder works, however long that takes", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* server, yield* server]
      const working = yield* Effect.fork(one.run({ ...tidy, lease: "2 seconds" }, () => Effect.sleep("4 seconds")))
      yield* Effect.sleep("50 millis")
      while (Option.isNone(yield* Fiber.poll(working))) {
        assert.isTrue(Option.isNone(yield* two.run(tidy, () => Effect.void)))
        yield* Effect.sleep("50 millis")
      }
      assert.isTrue(Option.isSome(yield* Fiber.join(working)))
    }).pipe(withServers)
  )

  it.live("of a dead server passes, and then another one takes over, with the next token", () =>
    Effect.gen(function* () {
      const { jobs: dead, network } = yield* fragileServer
      const two = yield* server
      const short = { ...stream, lease: "2 seconds" } as const
      const begun = yield* Deferred.make<void>()
      yield* Effect.fork(dead.runAlone(short, () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)))
      yield* Deferred.await(begun)
      network.isCutOff = true
      let tries = 0
      while (Option.isNone(yield* two.runAlone(short, () => Effect.void))) {
        tries++
        yield* Effect.sleep("20 millis")
      }
      assert.isAbove(tries, 5)
      assert.deepStrictEqual(
        (yield* rows).map(({ token }) => token),
        [2]
      )
    }).pipe(withServers)
  )

  it.live("that cannot be renewed ends the work before another server may begin it", () =>
    Effect.gen(function* () {
      const { jobs: cut, network } = yield* fragileServer
      const two = yield* server
      const short = { ...stream, lease: "2 seconds" } as const
      const seen: Array<string> = []
      const begun = yield* Deferred.make<void>()
      const working = yield* Effect.fork(
        cut.runAlone(short, () =>
          Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Effect.sync(() => seen.push("ended")))
          )
        )
      )
      yield* Deferred.await(begun)
      network.isCutOff = true
      const begin = Effect.sync(() => seen.push("begun"))
      while (Option.isNone(yield* two.runAlone(short, () => begin))) yield* Effect.sleep("10 millis")
      assert.isTrue(Option.isNone(yield* Fiber.join(working)))
      assert.deepStrictEqual(seen, ["ended", "begun"])
    }).pipe(withServers)
  )

  it.live("fences its holder: one that slept through it changes nothing, and says so", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const [one, two] = [yield* server, yield* server]
      const outcome = yield* one.run(tidy, (fenced) =>
        Effect.gen(function* () {
          yield* fenced(add("before"))
          yield* passLeases
          assert.isTrue(Option.isSome(yield* two.run(tidy, (fencedByTwo) => fencedByTwo(add("two")))))
          yield* fenced(add("after"))
        })
      )
      assert.isTrue(Option.isNone(outcome))
      assert.deepStrictEqual(yield* added, ["before", "two"])
      assert.include(lines.join("\n"), "WARN this server has lost the lease of the job tidy")
    }).pipe(Effect.provide(layer), withServers)
  })

  it.live.skipIf(isOnPostgres())("is not taken over in the middle of a fenced transaction", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* server, yield* server]
      const [begun, go, over] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>(), Deferred.make<void>()])
      const working = yield* Effect.fork(
        one.run(tidy, (fenced) =>
          Effect.zipRight(
            passLeases,
            fenced(Effect.all([Deferred.succeed(begun, undefined), Deferred.await(go), add("one")]))
            // The end of the job would be another change of the row, which may come before the take-over.
          ).pipe(Effect.zipRight(Deferred.await(over)))
        )
      )
      yield* Deferred.await(begun)
      const taking = yield* Effect.fork(two.run(tidy, () => added))
      yield* Effect.sleep("100 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(taking)))
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(Option.getOrThrow(yield* Fiber.join(taking)), ["one"])
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(working)
    }).pipe(withServers)
  )
})

describe("a job without periods", () => {
  it.live("is done by one server at a time, and by the next one as soon as that has ended", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* server, yield* server]
      for (const [worker, other] of [
        [one, two],
        [two, one],
        [two, one]
      ] as const) {
        const nested = yield* worker.runAlone(stream, () => other.runAlone(stream, () => Effect.void))
        assert.deepStrictEqual(nested, Option.some(Option.none()))
      }
      assert.deepStrictEqual(
        (yield* rows).map(({ token }) => token),
        [3]
      )
    }).pipe(withServers)
  )
})

describe("on a database of one server", () => {
  it.live("jobs need no lease: each run is done, and no row is written", () =>
    Effect.gen(function* () {
      const { run, runAlone } = yield* server
      for (let round = 0; round < 2; round++) {
        assert.deepStrictEqual(yield* run(tidy, () => Effect.succeed("done")), Option.some("done"))
        assert.deepStrictEqual(yield* runAlone(stream, (fenced) => fenced(add(`${round}`))), Option.some(undefined))
      }
      assert.deepStrictEqual(yield* rows, [])
      assert.deepStrictEqual(yield* added, ["0", "1"])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.effect(
          Database,
          Effect.map(Database, (database) => Database.of({ ...database, isShared: false }))
        )
      ),
      onDatabase()
    )
  )
})
