import { Tenant } from "@coffer/server/base/Tenant"
import { Database } from "@coffer/server/database/Database"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { isOnPostgres, onDatabase, transaction } from "../support/Services.js"

const as = (name: string) => Effect.provideService(Tenant, { name })

const snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) => database.snapshot(effect))

const query = Effect.flatMap(Database, ({ reading }) => reading.execute("SELECT 1 AS one", [], undefined))

/** Runs an effect while one tenant wants everything, for as long as the effect takes. */
const besideBulk = <R, A, E>(
  holding: (effect: Effect.Effect<void>) => Effect.Effect<void, never, R>,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const end = yield* Deferred.make<void>()
    const bulk = yield* Effect.fork(
      as("bulk")(Effect.forEach(Array(40).keys(), () => holding(Deferred.await(end)), { concurrency: "unbounded" }))
    )
    yield* Effect.sleep(200)
    const result = yield* Effect.timeout(as("other")(effect), "2 seconds")
    yield* Deferred.succeed(end, undefined)
    yield* Fiber.join(bulk)
    return result
  })

describe("while one tenant reads all it can", () => {
  it.live("another one has a snapshot", () => besideBulk(snapshot, snapshot(query)).pipe(onDatabase()))

  it.live("another one reads and changes without one", () =>
    besideBulk(snapshot, Effect.zipRight(query, transaction(query))).pipe(onDatabase())
  )
})

describe("while one tenant changes all it can", () => {
  it.live("another one's change is the next but one", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const change = (name: string) =>
        as(name)(
          transaction(
            Effect.zipRight(
              Effect.sync(() => void order.push(name)),
              Effect.sleep(30)
            )
          )
        )
      const bulk = yield* Effect.fork(
        Effect.forEach(Array(60).keys(), () => change("bulk"), { concurrency: "unbounded" })
      )
      yield* Effect.sleep(15)
      const before = order.length
      yield* change("other")
      yield* Fiber.join(bulk)
      // PostgreSQL runs as many at once as one tenant may have connections, and some more while it opens a new one.
      assert.isAtMost(order.indexOf("other") - before, isOnPostgres() ? 6 * 8 : 1)
    }).pipe(onDatabase())
  )
})
