import { Database } from "@coffer/server/database/Database"
import { RateLimits } from "@coffer/server/database/limits/RateLimits"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, person, transaction } from "../support/Services.js"

describe("at the same time on PostgreSQL", () => {
  it.live("many first logins of one address make one user", () =>
    Effect.gen(function* () {
      const people = yield* Effect.replicateEffect(person("ada@example.com"), 10, { concurrency: "unbounded" })
      assert.strictEqual(new Set(people.map(({ id }) => id)).size, 1)
    }).pipe(onDatabase())
  )

  it.live("many events of one subject count each other: no more than the limit are allowed", () =>
    Effect.gen(function* () {
      const limits = yield* Effect.provide(RateLimits, RateLimits.Default)
      const limit = { kind: "test", max: 3, window: 60_000 }
      const attempt = transaction(
        Effect.gen(function* () {
          if ((yield* limits.wait(limit, "one")) > 0) return false
          yield* limits.count(limit, "one")
          return true
        })
      )
      const allowed = yield* Effect.replicateEffect(attempt, 10, { concurrency: "unbounded" })
      assert.strictEqual(allowed.filter((one) => one).length, 3)
      assert.strictEqual((yield* Database).system, "postgresql")
    }).pipe(onDatabase())
  )
})
