import { startingAgain } from "@coffer/server/database/postgres/LostAtStart"
import { DatabaseBusy, DatabaseUnavailable } from "@coffer/server/database/Unavailable"
import { StartupError } from "@coffer/server/base/StartupError"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, TestClock } from "effect"

const lost = new DatabaseUnavailable({ cause: new Error("timeout exceeded when trying to connect") })
const slow = new DatabaseUnavailable({ cause: new Error("Query read timeout"), isSlow: true })

/** A start that fails with each defect in turn, and then goes on. */
const startAfter = (...defects: ReadonlyArray<unknown>) => {
  const left = [...defects]
  return Effect.suspend(() => {
    const defect = left.shift()
    return defect === undefined ? Effect.succeed("started") : Effect.die(defect)
  })
}

const ended = <A, E>(start: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(Effect.exit(startingAgain(start)))
    yield* TestClock.adjust("2 minutes")
    return yield* Fiber.join(fiber)
  })

describe("a start that loses the database", () => {
  it.effect("begins again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ended(startAfter(lost, new DatabaseBusy(), lost)), Exit.succeed("started"))
    })
  )

  it.effect("ends with a sentence after a minute", () =>
    Effect.gen(function* () {
      const exit = yield* ended(Effect.die(lost))
      assert.isTrue(Exit.isFailure(exit))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : null
      assert.instanceOf(error, StartupError)
      assert.match(error instanceof StartupError ? error.message : "", /^the database was lost during the start/)
    })
  )

  it.effect("that answers too slowly says so, and not that the database is away", () =>
    Effect.gen(function* () {
      const exit = yield* ended(Effect.die(slow))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : null
      assert.match(error instanceof StartupError ? error.message : "", /^the database answers too slowly to start/)
    })
  )

  it.effect("is not begun again after another defect", () =>
    Effect.gen(function* () {
      const defect = new Error("a bug")
      assert.deepStrictEqual(yield* ended(startAfter(defect)), Exit.die(defect))
    })
  )
})
