import { makeMutex } from "@coffer/server/database/sqlite/Mutex"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"

const makePass = () => makeMutex().inside<void, never, never>

/** Every few steps another fiber has its turn, as after some two thousand otherwise. */
const inShortTurns = (before: number, effect: Effect.Effect<void>) =>
  Effect.withMaxOpsBeforeYield(Effect.zipRight(Effect.repeatN(Effect.void, before), effect), 12)

const turns = (count: number) => Effect.repeatN(Effect.yieldNow(), count)

describe("a mutex", () => {
  it.effect("lets the next one in, at whichever step the turns of those at it end", () =>
    Effect.gen(function* () {
      for (let before = 0; before < 12; before++) {
        for (let stay = 0; stay < 8; stay++) {
          const pass = makePass()
          const first = yield* Effect.fork(pass(turns(stay)))
          const second = yield* Effect.fork(inShortTurns(before, pass(Effect.void)))
          yield* turns(100)
          assert.isNotNull(second.unsafePoll(), `${before} steps before it, while the first stays for ${stay} turns`)
          yield* Fiber.joinAll([first, second])
        }
      }
    })
  )

  it.effect("lets the next one in, at whichever step the one before it gives up waiting", () =>
    Effect.gen(function* () {
      for (let before = 0; before < 12; before++) {
        for (let patience = 0; patience < 8; patience++) {
          const pass = makePass()
          const first = yield* Effect.fork(pass(turns(20)))
          const second = yield* Effect.fork(inShortTurns(before, pass(Effect.void)))
          yield* turns(patience)
          yield* Fiber.interruptFork(second)
          const third = yield* Effect.fork(pass(Effect.void))
          yield* turns(100)
          assert.isNotNull(third.unsafePoll(), `${before} steps before it, and then ${patience} turns`)
          yield* Fiber.joinAll([first, third])
        }
      }
    })
  )
})
