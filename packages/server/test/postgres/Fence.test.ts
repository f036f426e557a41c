import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { add, added, passLeases, server, withServers } from "../jobs/Support.js"

const stream = { name: "stream", lease: "1 minute" } as const

describe("the transactions of a job on PostgreSQL", () => {
  it.live("are not held up by one of them that waits for a tenant's row", () =>
    Effect.gen(function* () {
      const { runAlone } = yield* server
      yield* runAlone(stream, (fenced) =>
        Effect.gen(function* () {
          const [begun, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
          const waiter = yield* Effect.fork(
            fenced(Effect.all([add("waiting"), Deferred.succeed(begun, undefined), Deferred.await(go)]))
          )
          yield* Deferred.await(begun)
          yield* fenced(add("other"))
          assert.deepStrictEqual(yield* added, ["other"])
          yield* Deferred.succeed(go, undefined)
          yield* Fiber.join(waiter)
        })
      )
      assert.deepStrictEqual(yield* added, ["other", "waiting"])
    }).pipe(withServers)
  )

  it.live("change nothing if another server takes the job over in the middle", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* server, yield* server]
      const [begun, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const working = yield* Effect.fork(
        one.runAlone(stream, (fenced) =>
          fenced(Effect.all([add("one"), Deferred.succeed(begun, undefined), Deferred.await(go)]))
        )
      )
      yield* Deferred.await(begun)
      yield* passLeases
      yield* two.runAlone(stream, (fenced) => fenced(add("two")))
      yield* Deferred.succeed(go, undefined)
      assert.isTrue(Option.isNone(yield* Fiber.join(working)))
      assert.deepStrictEqual(yield* added, ["two"])
    }).pipe(withServers)
  )
})
