import { endProcess, untilEnded } from "@coffer/server/base/ProcessEnd"
import { StartupError } from "@coffer/server/base/StartupError"
import { Effect, Exit, Fiber } from "effect"
import { assert, describe, it } from "vitest"

/** A program that takes a moment to end, with what is around it. Both note their end. */
const around = (order: Array<string>, program: Effect.Effect<void>) =>
  Effect.scoped(
    Effect.zipRight(
      Effect.addFinalizer(() => Effect.sync(() => order.push("around"))),
      untilEnded(
        program.pipe(
          Effect.onExit(() =>
            Effect.zipRight(
              Effect.sleep("20 millis"),
              Effect.sync(() => order.push("program"))
            )
          )
        )
      )
    )
  )

describe("a program that its services may end", () => {
  it("has ended before whatever is around it is released, when it is interrupted", async () => {
    const order: Array<string> = []
    const running = Effect.runFork(around(order, Effect.never))
    await Effect.runPromise(Effect.sleep("10 millis"))
    await Effect.runPromise(Fiber.interrupt(running))
    assert.deepStrictEqual(order, ["program", "around"])
  })

  it("has ended before whatever is around it is released, when a service ends it, and fails with what that says", async () => {
    const order: Array<string> = []
    const ending = Effect.zipRight(endProcess({ message: "the key has changed", mayRestart: true }), Effect.never)
    const exit = await Effect.runPromiseExit(around(order, ending))
    assert.deepStrictEqual(exit, Exit.fail(new StartupError({ message: "the key has changed" })))
    assert.deepStrictEqual(order, ["program", "around"])
  })

  it("gives its own result", async () => {
    const order: Array<string> = []
    assert.deepStrictEqual(await Effect.runPromiseExit(around(order, Effect.void)), Exit.void)
    assert.deepStrictEqual(order, ["program", "around"])
  })
})
