import { afterCommit, afterwards, Database, settled } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { isUniqueViolation } from "@coffer/server/database/SqlErrors"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Option, Schema } from "effect"
import { Name, add, defectOf, names, statements, transaction, withDatabase } from "./Support.js"

describe("a transaction on PostgreSQL", () => {
  it.live("is kept when it succeeds, and leaves nothing when it fails or is interrupted", () =>
    Effect.gen(function* () {
      yield* transaction(add("kept"))
      assert.deepStrictEqual(
        yield* Effect.exit(transaction(Effect.zipRight(add("a"), Effect.fail("no")))),
        Exit.fail("no")
      )
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        transaction(add("b").pipe(Effect.zipRight(Deferred.succeed(begun, undefined)), Effect.zipRight(Effect.never)))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* names, ["kept"])
    }).pipe(withDatabase())
  )

  it.live("nests: an inner one that fails leaves nothing, before and after others that stay", () =>
    Effect.gen(function* () {
      const failing = (id: string) => transaction(Effect.zipRight(add(id), Effect.fail("no"))).pipe(Effect.ignore)
      yield* transaction(
        Effect.gen(function* () {
          yield* failing("a")
          yield* transaction(
            Effect.gen(function* () {
              yield* add("b")
              yield* failing("c")
              yield* transaction(add("d"))
              yield* failing("e")
            })
          )
          yield* failing("f")
          yield* add("g")
        })
      )
      assert.deepStrictEqual(yield* names, ["b", "d", "g"])
    }).pipe(withDatabase())
  )

  it.live("goes on after a refused statement only behind the savepoint before it", () =>
    Effect.gen(function* () {
      const refused = Effect.sandbox(transaction(Effect.zipRight(add("b"), add("a")))).pipe(Effect.flip)
      const cause = yield* transaction(add("a").pipe(Effect.zipRight(refused), Effect.zipLeft(add("c"))))
      assert.isTrue(isUniqueViolation(Option.getOrUndefined(Cause.dieOption(cause))))
      assert.deepStrictEqual(yield* names, ["a", "c"])
      // Without one, PostgreSQL answers COMMIT with ROLLBACK: the caller must not take that for a success.
      const swallowed = yield* Effect.exit(transaction(Effect.zipRight(add("d"), Effect.exit(add("a")))))
      assert.isTrue(isUniqueViolation(defectOf(swallowed)))
      assert.deepStrictEqual(yield* names, ["a", "c"])
    }).pipe(withDatabase())
  )

  it.live("appends what was queued last, without what was rolled back", () =>
    Effect.gen(function* () {
      const { beforeCommit } = yield* Database
      const batches: Array<ReadonlyArray<string>> = []
      const queue = beforeCommit<string>((items) =>
        Effect.zipRight(
          Effect.sync(() => batches.push(items)),
          Effect.orDie(Effect.provide(Effect.forEach(items, add, { discard: true }), context))
        )
      )
      const context = yield* Effect.context<Database>()
      yield* transaction(
        Effect.gen(function* () {
          yield* queue("first")
          yield* Effect.ignore(transaction(Effect.zipRight(queue("dropped"), Effect.fail("no"))))
          yield* transaction(queue("second"))
          assert.deepStrictEqual(yield* names, [])
        })
      )
      yield* Effect.exit(transaction(Effect.zipRight(queue("lost"), Effect.fail("no"))))
      assert.deepStrictEqual(batches, [["first", "second"]])
      assert.deepStrictEqual(yield* names, ["first", "second"])
    }).pipe(withDatabase())
  )

  it.live("runs its hooks when it has ended and its connection is free, those after a commit only then", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const context = yield* Effect.context<Database>()
      const note = (name: string) =>
        Effect.flatMap(names, (found) => Effect.sync(() => seen.push(`${name}: ${found.join(" ")}`))).pipe(
          Effect.provide(context),
          Effect.asVoid
        )
      yield* transaction(
        Effect.gen(function* () {
          yield* add("a")
          yield* afterCommit(note("commit"))
          yield* afterwards(note("end"))
          yield* Effect.ignore(
            transaction(
              Effect.all([afterCommit(note("no")), afterwards(note("part")), Effect.fail("no")], { discard: true })
            )
          )
        })
      )
      yield* Effect.exit(
        transaction(Effect.all([afterCommit(note("no")), afterwards(note("rolled back")), Effect.fail("no")]))
      )
      assert.deepStrictEqual(seen, ["commit: a", "end: a", "part: a", "rolled back: a"])
    }).pipe(withDatabase({ connections: 1 }))
  )

  it.live("is run again after a deadlock: both of two that wait for each other are kept", () =>
    Effect.gen(function* () {
      const { rename } = yield* statements
      yield* transaction(Effect.zipRight(add("a"), add("b")))
      const both = yield* Deferred.make<void>()
      let arrived = 0
      let attempts = 0
      const renaming = (first: string, second: string, name: string) =>
        transaction(
          Effect.gen(function* () {
            attempts++
            yield* rename({ id: first, name: `${first}-${name}` })
            yield* settled
            if (++arrived === 2) yield* Deferred.succeed(both, undefined)
            yield* Deferred.await(both)
            yield* rename({ id: second, name: `${second}-${name}` })
          })
        )
      yield* Effect.all([renaming("a", "b", "one"), renaming("b", "a", "two")], { concurrency: 2 })
      assert.strictEqual(attempts, 3)
      const found = yield* names
      assert.include([["a-one", "b-one"].join(), ["a-two", "b-two"].join()], found.join())
    }).pipe(withDatabase())
  )

  it.live("makes those that lock the same name wait for each other, and no others", () =>
    Effect.gen(function* () {
      const { lock } = yield* Database
      const [held, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* Effect.fork(
        transaction(
          lock("one").pipe(
            Effect.zipRight(Deferred.succeed(held, undefined)),
            Effect.zipRight(Deferred.await(go)),
            Effect.zipRight(add("holder"))
          )
        )
      )
      yield* Deferred.await(held)
      yield* transaction(Effect.zipRight(lock("two"), add("other")))
      const waiter = yield* Effect.fork(transaction(Effect.zipRight(lock("one"), names)))
      yield* Effect.sleep("50 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(waiter)))
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(waiter), ["holder", "other"])
      yield* Fiber.join(holder)
    }).pipe(withDatabase())
  )
})

describe("reads on PostgreSQL", () => {
  it.live("see a change when it is committed, and a snapshot sees none that came later", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* Database
      const [written, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const writer = yield* Effect.fork(
        transaction(Effect.all([add("a"), Deferred.succeed(written, undefined), Deferred.await(go)], { discard: true }))
      )
      yield* Deferred.await(written)
      const found = yield* snapshot(
        Effect.gen(function* () {
          const before = yield* names
          yield* Deferred.succeed(go, undefined)
          yield* Fiber.join(writer)
          return [before, yield* names]
        })
      )
      assert.deepStrictEqual([...found, yield* names], [[], [], ["a"]])
    }).pipe(withDatabase())
  )

  it.live("return numbers, text and bytes as on SQLite, prepared or not", () =>
    Effect.gen(function* () {
      const Row = Schema.Struct({
        count: Schema.Number,
        sum: Schema.Number,
        yes: Schema.Number,
        moment: Schema.String,
        bytes: Schema.Uint8ArrayFromSelf
      })
      for (const prepared of [true, false]) {
        yield* Effect.gen(function* () {
          const { one } = yield* query
          const found = yield* one(Row)`
            SELECT count(*) AS count, sum(n) AS sum, (1 = 1) AS yes, CAST(${"moment"} AS TEXT) AS moment,
              CAST(${"bytes"} AS BYTEA) AS bytes
            FROM (VALUES (CAST(4294967296 AS BIGINT)), (1)) AS numbers (n)`({
            moment: "2026-01-01T00:00:00.000Z",
            bytes: Uint8Array.of(0, 92, 255)
          })
          const { bytes, ...rest } = found
          assert.deepStrictEqual(rest, { count: 2, sum: 4294967297, yes: 1, moment: "2026-01-01T00:00:00.000Z" })
          assert.deepStrictEqual([...bytes], [0, 92, 255])
          const { prepared: names } = yield* one(Schema.Struct({ prepared: Schema.Number }))`
            SELECT count(*) AS prepared FROM pg_prepared_statements`({})
          assert.strictEqual(names > 0, prepared)
        }).pipe(withDatabase({ prepared, connections: 1 }))
      }
    })
  )

  it.live("that are interrupted leave the connection to the next one as they found it", () =>
    Effect.gen(function* () {
      const { all } = yield* query
      const slow = all(Name)`SELECT CAST(pg_sleep(0.2) AS TEXT) AS name`({})
      const { snapshot } = yield* Database
      for (const read of [slow, snapshot(slow), transaction(slow)]) {
        const fiber = yield* Effect.fork(read)
        yield* Effect.sleep("50 millis")
        yield* Fiber.interrupt(fiber)
        yield* transaction(add(`after ${(yield* names).length}`))
      }
      assert.deepStrictEqual(yield* names, ["after 0", "after 1", "after 2"])
    }).pipe(withDatabase({ connections: 1 }))
  )

  it.live("wait for a connection, and those that give up take none with them", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const holder = yield* Effect.fork(transaction(Deferred.await(go)))
      yield* Effect.sleep("50 millis")
      const waiting = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) =>
        Effect.fork(index % 2 === 0 ? names : transaction(add(`${index}`)))
      )
      yield* Effect.sleep("20 millis")
      yield* Fiber.interruptAll(waiting)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(yield* names, [])
    }).pipe(withDatabase({ connections: 1 }))
  )
})
