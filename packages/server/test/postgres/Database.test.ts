import { OrgId } from "@coffer/domain/base/Ids"
import { Database, settled } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { orgScope } from "@coffer/server/database/Scopes"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Schema } from "effect"
import { Name, add, names, statements, tagOf, transaction, withDatabase } from "./Support.js"

describe("a transaction on PostgreSQL", () => {
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

describe("a read that a transaction sends ahead on PostgreSQL", () => {
  const sendAhead = Effect.flatMap(statements, (run) => run.names.ahead({}))

  it.live("is answered once, as of the time when it was sent", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<Database>()
      const another = (name: string) =>
        Effect.promise(() => Effect.runPromise(Effect.provide(transaction(add(name)), context)))
      yield* transaction(
        Effect.gen(function* () {
          yield* sendAhead
          assert.deepStrictEqual(yield* Effect.flatMap(statements, (run) => run.count({})), { count: 0 })
          yield* another("a")
          assert.deepStrictEqual(yield* names, [])
          assert.deepStrictEqual(yield* names, ["a"])
        })
      )
    }).pipe(withDatabase())
  )

  it.live("runs again after a write or a lock", () =>
    Effect.gen(function* () {
      const { lock } = yield* Database
      const context = yield* Effect.context<Database>()
      const another = (name: string) =>
        Effect.promise(() => Effect.runPromise(Effect.provide(transaction(add(name)), context)))
      yield* transaction(
        Effect.gen(function* () {
          yield* sendAhead
          yield* add("a")
          assert.deepStrictEqual(yield* names, ["a"])
          yield* sendAhead
          yield* another("b")
          yield* lock("one")
          assert.deepStrictEqual(yield* names, ["a", "b"])
        })
      )
    }).pipe(withDatabase())
  )

  it.live("fails the transaction if it fails", () =>
    Effect.gen(function* () {
      const { all } = yield* query
      const wrong = all(Name)`SELECT CAST(${"text"} AS INTEGER) AS name`
      const exit = yield* Effect.exit(transaction(Effect.zipRight(wrong.ahead({ text: "no" }), add("a"))))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* names, [])
    }).pipe(withDatabase())
  )
})

describe("what a transaction on PostgreSQL queues until its commit", () => {
  it.live("is sent with the commit, and undone alone in a second run if it fails", () =>
    Effect.gen(function* () {
      const { beforeCommit } = yield* Database
      const context = yield* Effect.context<Database>()
      const exits: Array<string> = []
      const queue = beforeCommit<string>(() =>
        Effect.provide(Effect.sandbox(transaction(Effect.zipRight(add("lost"), add("a")))), context).pipe(
          Effect.exit,
          Effect.map(({ _tag }) => {
            exits.push(_tag)
          })
        )
      )
      yield* transaction(Effect.zipRight(add("a"), queue("item")))
      assert.deepStrictEqual(exits, ["Success", "Failure"], "the first run does not wait for it")
      assert.deepStrictEqual(yield* names, ["a"])
    }).pipe(withDatabase())
  )
})

describe("the changes of one scope on PostgreSQL", () => {
  const scopeOf = (last: number) => orgScope(OrgId.make(`0192f0c1-5b7e-7c3a-9d2e-00000000000${last}`))

  it.live("wait without a connection, so that others have theirs; more than 200 do not wait", () =>
    Effect.gen(function* () {
      const { change, pool } = yield* Database
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = change([scopeOf(1)], Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go)))
      const fibers = yield* Effect.forEach(Array(210).keys(), () => Effect.fork(Effect.exit(slow)))
      yield* Deferred.await(begun)
      yield* Effect.sleep("50 millis")
      assert.strictEqual(pool?.().used, 1)
      yield* Effect.timeout(change([scopeOf(2)], add("other")), "2 seconds")
      assert.deepStrictEqual(yield* names, ["other"])
      yield* Deferred.succeed(go, undefined)
      const exits = yield* Fiber.joinAll(fibers)
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 200)
      for (const exit of exits) if (Exit.isFailure(exit)) assert.strictEqual(tagOf(exit), "DatabaseBusy")
    }).pipe(withDatabase({ connections: 4 }))
  )
})

describe("reads on PostgreSQL", () => {
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

  it.live("wait for a connection, and those that give up take no connection with them", () =>
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
