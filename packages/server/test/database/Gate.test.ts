import { makeGate } from "@coffer/server/database/Gate"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"

describe("a gate", () => {
  it.effect("lets the next one in, at whichever step the turns of those at it end", () =>
    Effect.gen(function* () {
      for (let before = 0; before < 12; before++) {
        for (let turns = 0; turns < 8; turns++) {
          const { through } = makeGate()
          const pass = (staying: Effect.Effect<void>) =>
            Effect.uninterruptibleMask((restore) => through(restore, staying))
          const first = yield* Effect.fork(pass(Effect.repeatN(Effect.yieldNow(), turns)))
          // Every few steps another fiber has its turn, as after some two thousand otherwise.
          const second = yield* Effect.fork(
            Effect.zipRight(Effect.repeatN(Effect.void, before), pass(Effect.void)).pipe(
              Effect.withMaxOpsBeforeYield(12)
            )
          )
          yield* Effect.repeatN(Effect.yieldNow(), 100)
          assert.isNotNull(second.unsafePoll(), `${before} steps before it, while the first stays for ${turns} turns`)
          yield* Fiber.joinAll([first, second])
        }
      }
    })
  )
})
