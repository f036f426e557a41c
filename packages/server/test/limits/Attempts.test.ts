import { Database } from "@coffer/server/database/Database"
import { type RateLimit, RateLimits } from "@coffer/server/database/limits/RateLimits"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { isOnPostgres, onDatabase, transaction } from "../support/Services.js"

const limit: RateLimit = { kind: "test", max: 2, window: 60_000 }
const refused = (seconds: number) => `wait ${seconds} seconds`

let transactions = 0

const attempt = (subject: string) =>
  Effect.flatMap(RateLimits, (limits) =>
    transaction(
      Effect.gen(function* () {
        transactions++
        const seconds = yield* limits.wait(limit, subject)
        if (seconds > 0) return yield* Effect.fail(refused(seconds))
        yield* limits.count(limit, subject)
      })
    ).pipe(limits.limited(limit, subject, refused))
  )

const many = (count: number, subject: string) =>
  Effect.forEach(Array(count).keys(), () => Effect.exit(attempt(subject)), { concurrency: "unbounded" })

describe("attempts that a rate limit counts", () => {
  it.effect("are refused from memory for a second once they are over it, each subject by itself", () =>
    Effect.gen(function* () {
      yield* many(2, "a")
      transactions = 0
      assert.deepStrictEqual(yield* Effect.exit(attempt("a")), Exit.fail("wait 60 seconds"))
      assert.strictEqual(transactions, 1)
      const exits = yield* many(20, "a")
      assert.strictEqual(transactions, 1)
      for (const exit of exits) assert.deepStrictEqual(exit, Exit.fail("wait 60 seconds"))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(attempt("b"))))
      yield* TestClock.adjust("61 seconds")
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(attempt("a"))))
    }).pipe(Effect.provide(RateLimits.Default), onDatabase())
  )

  it.effect("of one subject at once count those before them, and the last ones are refused without a transaction", () =>
    Effect.gen(function* () {
      transactions = 0
      const exits = yield* many(30, "a")
      assert.strictEqual(exits.filter(Exit.isSuccess).length, limit.max)
      assert.strictEqual(transactions, limit.max + 1)
    }).pipe(Effect.provide(RateLimits.Default), onDatabase())
  )

  it.live("wait without a connection, and are refused when too many of one subject wait", () =>
    Effect.gen(function* () {
      const { inTurn } = yield* RateLimits
      const { pool } = yield* Database
      const end = yield* Deferred.make<void>()
      const slow = inTurn("a")(transaction(Deferred.await(end)))
      const fibers = yield* Effect.forEach(Array(60).keys(), () => Effect.fork(Effect.exit(slow)))
      yield* Effect.sleep(200)
      if (isOnPostgres()) assert.strictEqual(pool?.().used, 1)
      yield* Deferred.succeed(end, undefined)
      const exits = yield* Fiber.joinAll(fibers)
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 33)
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(slow)))
    }).pipe(Effect.provide(RateLimits.Default), onDatabase())
  )
})
