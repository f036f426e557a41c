import { afterEach, assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { withDefaultSignals } from "../../src/terminal/DefaultSignals.js"

const listener = () => undefined
afterEach(() => void process.off("SIGTERM", listener).off("SIGINT", listener))

it.effect("signals have no listener while the work runs, and the same ones afterwards", () =>
  Effect.gen(function* () {
    process.on("SIGTERM", listener)
    process.on("SIGINT", listener)
    const before = [process.listeners("SIGTERM"), process.listeners("SIGINT")]
    const counts = yield* withDefaultSignals(
      Effect.sync(() => [process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")])
    )
    assert.deepStrictEqual(counts, [0, 0])
    assert.deepStrictEqual([process.listeners("SIGTERM"), process.listeners("SIGINT")], before)
    yield* Effect.flip(withDefaultSignals(Effect.fail("no")))
    yield* Effect.exit(withDefaultSignals(Effect.die("no")))
    assert.deepStrictEqual([process.listeners("SIGTERM"), process.listeners("SIGINT")], before)
  })
)
