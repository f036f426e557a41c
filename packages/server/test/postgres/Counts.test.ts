import { Database, settled } from "@coffer/server/database/Database"
import { lostConnections, retriedTransactions } from "@coffer/server/database/DatabaseMetrics"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Metric } from "effect"
import { add, names, statements, terminate, transaction, withDatabase } from "./Support.js"

const counted = Effect.all({
  lost: Effect.map(Metric.value(lostConnections), ({ count }) => count),
  retried: Effect.map(Metric.value(retriedTransactions), ({ count }) => count)
})

describe("the counts of a PostgreSQL database", () => {
  it.live("show the connections that are used and idle, and how many requests wait", () =>
    Effect.gen(function* () {
      const { pool } = yield* Database
      const go = yield* Deferred.make<void>()
      const holders = yield* Effect.forEach([1, 2, 3, 4], () => Effect.fork(transaction(Deferred.await(go))))
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(pool?.(), { used: 3, idle: 0, waiting: 1 }, "one is kept for others")
      yield* Deferred.succeed(go, undefined)
      yield* Effect.forEach(holders, Fiber.join)
      assert.deepStrictEqual(pool?.(), { used: 0, idle: 3, waiting: 0 })
    }).pipe(withDatabase({ connections: 4 }))
  )

  it.live("grow by each connection that was lost, whether it was idle or in use", () =>
    Effect.gen(function* () {
      yield* names
      const before = yield* counted
      yield* terminate("state = 'idle'")
      yield* Effect.sleep("100 millis")
      assert.strictEqual((yield* counted).lost, before.lost + 1)
      const between = transaction(
        Effect.all([
          add("a"),
          Effect.zipRight(terminate("state = 'idle in transaction'"), Effect.sleep("50 millis")),
          names
        ])
      )
      yield* Effect.exit(between)
      assert.strictEqual((yield* counted).lost, before.lost + 2)
    }).pipe(withDatabase({ connections: 2 }))
  )

  it.live("grow by each transaction that was run again", () =>
    Effect.gen(function* () {
      const { rename } = yield* statements
      yield* transaction(Effect.zipRight(add("a"), add("b")))
      const before = yield* counted
      const both = yield* Deferred.make<void>()
      let arrived = 0
      const renaming = (first: string, second: string) =>
        transaction(
          Effect.gen(function* () {
            yield* rename({ id: first, name: `${first}-${second}` })
            yield* settled
            if (++arrived === 2) yield* Deferred.succeed(both, undefined)
            yield* Deferred.await(both)
            yield* rename({ id: second, name: `${second}-${first}` })
          })
        )
      yield* Effect.all([renaming("a", "b"), renaming("b", "a")], { concurrency: 2 })
      assert.strictEqual((yield* counted).retried, before.retried + 1)
    }).pipe(withDatabase())
  )
})
