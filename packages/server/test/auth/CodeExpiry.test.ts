import { CodeExpiry } from "@coffer/server/directory/login/CodeExpiry"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"

const minute = 60_000
const text = (millis: number) => new Date(millis).toISOString()

describe("the age of a login code", () => {
  it.effect("is by the wall clock for a code of another process; a time before its creation counts as any age", () =>
    Effect.gen(function* () {
      const { ageOf } = yield* CodeExpiry
      assert.strictEqual(yield* ageOf("code", 1_000, 6_000), 5_000)
      assert.strictEqual(yield* ageOf("code", 1_000, 1_000), 0)
      assert.strictEqual(yield* ageOf("code", 1_000, 999), Number.POSITIVE_INFINITY)
    }).pipe(Effect.provide(CodeExpiry.Default))
  )

  it.effect("is by both clocks for a code of this process, whichever says more", () =>
    Effect.gen(function* () {
      const { ageOf, note } = yield* CodeExpiry
      yield* TestClock.adjust("1 minute")
      yield* note("code", 10 * minute)
      yield* TestClock.adjust("7 seconds")
      assert.strictEqual(yield* ageOf("code", minute, minute), 7_000, "the wall clock stood still")
      assert.strictEqual(yield* ageOf("code", minute, 0), 7_000, "the wall clock was set back")
      assert.strictEqual(yield* ageOf("code", minute, 2 * minute), minute, "the wall clock was set ahead")
    }).pipe(Effect.provide(CodeExpiry.Default))
  )

  it.effect("is expired from the end of its lifetime on", () =>
    Effect.gen(function* () {
      const { isExpired } = yield* CodeExpiry
      const code = { id: "code", created_at: text(1_000), expires_at: text(1_000 + 10 * minute) }
      for (const [millis, expected] of [
        [1_000, false],
        [1_000 + 10 * minute - 1, false],
        [1_000 + 10 * minute, true],
        [999, true]
      ] as const) {
        assert.strictEqual(yield* isExpired(code, millis), expected, String(millis))
      }
    }).pipe(Effect.provide(CodeExpiry.Default))
  )

  it.effect("is forgotten once the code's lifetime is over, when another one is issued", () =>
    Effect.gen(function* () {
      const { ageOf, note } = yield* CodeExpiry
      /** Codes that are known have an age though the wall clock was set back. */
      const known = Effect.filter(["first", "second", "third"], (id) =>
        Effect.map(ageOf(id, 1, 0), (age) => age !== Number.POSITIVE_INFINITY)
      )
      yield* note("first", 2 * minute)
      yield* TestClock.adjust("1 minute")
      yield* note("second", 2 * minute)
      yield* TestClock.adjust("59 seconds")
      yield* note("third", 2 * minute)
      assert.deepStrictEqual(yield* known, ["first", "second", "third"])
      yield* TestClock.adjust("1 second")
      yield* note("third", 2 * minute)
      assert.deepStrictEqual(yield* known, ["second", "third"])
    }).pipe(Effect.provide(CodeExpiry.Default))
  )
})
