import { forEachInSlices, holdingLock, mapInSlices, nextTick, pacing } from "@coffer/server/base/EventLoop"
import { Tenant } from "@coffer/server/base/Tenant"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"

/** Computes for some milliseconds. */
const busy = (millis: number) => {
  for (const end = performance.now() + millis; performance.now() < end;);
}
const compute = (millis: number) => Effect.sync(() => busy(millis))

/** Counts the turns of the event loop while an effect runs. */
const countingTurns = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    let turns = 0
    let running = true
    const count = () => {
      turns++
      if (running) setImmediate(count)
    }
    setImmediate(count)
    return Effect.map(effect, (result) => {
      running = false
      return { result, turns }
    })
  })

describe("long work", () => {
  it.effect("of many at once goes on a piece a turn of the event loop, in the order of asking", () =>
    Effect.gen(function* () {
      const went: Array<number> = []
      const worker = (number: number) =>
        Effect.repeatN(
          Effect.map(nextTick, () => void went.push(number)),
          9
        )
      const { turns } = yield* countingTurns(Effect.forEach([0, 1, 2, 3, 4], worker, { concurrency: "unbounded" }))
      assert.isAtLeast(turns, 49)
      assert.deepStrictEqual(
        went,
        Array.from({ length: 50 }, (_, index) => index % 5)
      )
    })
  )

  it.effect("of one tenant goes on in turn with that of another, however much of it there is", () =>
    Effect.gen(function* () {
      const went: Array<string> = []
      const worker = (name: string) =>
        Effect.provideService(
          Effect.map(nextTick, () => void went.push(name)),
          Tenant,
          { name }
        )
      const all = [...Array.from({ length: 20 }, () => "bulk"), "other", "other"]
      yield* Effect.forEach(all, worker, { concurrency: "unbounded" })
      assert.deepStrictEqual(went.slice(0, 5), ["bulk", "other", "bulk", "other", "bulk"])
    })
  )

  it.effect("goes on first when it holds a lock, and leaves others a part of the ticks", () =>
    Effect.gen(function* () {
      const went: Array<string> = []
      const worker = (name: string) =>
        Effect.repeatN(
          Effect.map(nextTick, () => void went.push(name)),
          59
        )
      const readers = Effect.forEach(["reader", "reader"], worker, { concurrency: "unbounded" })
      yield* Effect.all([readers, holdingLock(worker("writer"))], { concurrency: "unbounded" })
      const duringWrite = went.slice(0, went.lastIndexOf("writer"))
      const read = duringWrite.filter((name) => name === "reader").length
      assert.isAtLeast(read, 2)
      assert.isAtMost(read, 4)
    })
  )

  it.effect("waits in vain when it is interrupted, and holds nobody up", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.fork(nextTick)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting)
      yield* nextTick
    })
  )

  it.effect("takes a turn after each slice, and no turn before the first", () =>
    Effect.gen(function* () {
      const long = yield* countingTurns(forEachInSlices([1, 2, 3, 4, 5], (item) => Effect.as(compute(10), item * 2)))
      assert.deepStrictEqual(long.result, [2, 4, 6, 8, 10])
      assert.isAtLeast(long.turns, 4)
      const double = (item: number) => {
        busy(10)
        return item * 2
      }
      const plain = yield* countingTurns(mapInSlices([1, 2, 3, 4, 5], double))
      assert.deepStrictEqual(plain.result, long.result)
      assert.isAtLeast(plain.turns, 4)
      const pace = pacing()
      let went = false
      setImmediate(() => (went = true))
      yield* pace
      assert.isFalse(went)
    })
  )
})
