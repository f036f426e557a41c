import { assert, describe, it } from "@effect/vitest"
import {
  Config,
  Context,
  Data,
  Deferred,
  Effect,
  Fiber,
  Layer,
  Logger,
  Redacted,
  Ref,
  Reloadable,
  Stream,
  TestClock
} from "effect"
import { Coffer, TestCoffer } from "../src/Coffer.js"

class Pool extends Context.Tag("@coffer/client/Reload.test/Pool")<Pool, { readonly password: string }>() {}

class Refused extends Data.TaggedError("Refused")<{ readonly password: string }> {}

/** A pool that notes when it is opened and closed; it cannot be opened with the passwords in `bad`. */
const makePool = (log: Ref.Ref<ReadonlyArray<string>>, bad: Set<string>) => {
  const note = (line: string) => Ref.update(log, (lines) => [...lines, line])
  return Layer.scoped(
    Pool,
    Effect.gen(function* () {
      const password = Redacted.value(yield* Config.redacted("DB_PASSWORD"))
      if (bad.has(password)) return yield* new Refused({ password })
      yield* Effect.acquireRelease(note(`open ${password}`), () => note(`close ${password}`))
      return { password }
    })
  )
}

const settle = Effect.yieldNow().pipe(Effect.repeatN(100))

const scene = Effect.gen(function* () {
  const log = yield* Ref.make<ReadonlyArray<string>>([])
  const bad = new Set<string>()
  const said: Array<string> = []
  const logger = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message }) => void said.push(String(message)))
  )
  const layer = Coffer.reload(Pool, makePool(log, bad), ["DB_HOST", "DB_PASSWORD"]).pipe(
    Layer.provideMerge(Coffer.layerTest({ DB_HOST: "db", DB_PASSWORD: "one", OTHER: "x" })),
    Layer.provideMerge(logger)
  )
  return { bad, layer, log: Ref.get(log), said }
})

describe("a resource built again when a key changes", () => {
  it.effect("replaces the old one once the new one stands, and is released at the end", () =>
    Effect.gen(function* () {
      const { layer, log, said } = yield* scene
      yield* Effect.gen(function* () {
        const test = yield* TestCoffer
        assert.strictEqual((yield* Reloadable.get(Pool)).password, "one")
        yield* test.set("DB_PASSWORD", "two")
        yield* settle
        assert.strictEqual((yield* Reloadable.get(Pool)).password, "two")
        assert.deepStrictEqual(yield* log, ["open one", "open two", "close one"])
        yield* test.set("OTHER", "y")
        yield* test.set("DB_PASSWORD", "two")
        yield* settle
        assert.lengthOf(yield* log, 3)
        assert.deepStrictEqual(said, [`${Pool.key} was built again: DB_PASSWORD changed`])
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(yield* log, ["open one", "open two", "close one", "close two"])
    })
  )

  it.effect("stays while the new one cannot be built, which is tried again", () =>
    Effect.gen(function* () {
      const { bad, layer, log, said } = yield* scene
      yield* Effect.gen(function* () {
        const test = yield* TestCoffer
        bad.add("two")
        yield* test.set("DB_PASSWORD", "two")
        yield* settle
        assert.deepStrictEqual(said, [`${Pool.key} could not be built again, so the old service stays: Refused`])
        assert.strictEqual((yield* Reloadable.get(Pool)).password, "one")
        bad.clear()
        yield* TestClock.adjust("2 seconds")
        yield* settle
        assert.strictEqual((yield* Reloadable.get(Pool)).password, "two")
        assert.deepStrictEqual(yield* log, ["open one", "open two", "close one"])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("is released only after the effects that run with it, and at the latest with the layer", () =>
    Effect.gen(function* () {
      const { layer, log } = yield* scene
      const done = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const test = yield* TestCoffer
        const use = (wait: Effect.Effect<unknown>) =>
          Coffer.using(Pool)(Effect.flatMap(Pool, ({ password }) => Effect.as(wait, password)))
        const short = yield* Effect.fork(use(Deferred.await(done)))
        const endless = yield* Effect.forkDaemon(use(Effect.never))
        yield* settle
        yield* test.set("DB_PASSWORD", "two")
        yield* settle
        assert.strictEqual(yield* use(Effect.void), "two")
        assert.deepStrictEqual(yield* log, ["open one", "open two"])
        yield* Deferred.succeed(done, undefined)
        assert.strictEqual(yield* Fiber.join(short), "one")
        yield* settle
        assert.lengthOf(yield* log, 2)
        yield* Fiber.interrupt(endless)
        yield* settle
        assert.deepStrictEqual(yield* log, ["open one", "open two", "close one"])
        yield* Effect.forkDaemon(use(Effect.never))
        yield* settle
        yield* test.set("DB_PASSWORD", "three")
        yield* settle
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual([...(yield* log)].sort(), [
        "close one",
        "close three",
        "close two",
        "open one",
        "open three",
        "open two"
      ])
    })
  )

  it.effect("stays when the key gets its old value back while the new one cannot be built", () =>
    Effect.gen(function* () {
      const { bad, layer, log } = yield* scene
      yield* Effect.gen(function* () {
        const test = yield* TestCoffer
        bad.add("two")
        yield* test.set("DB_PASSWORD", "two")
        yield* settle
        yield* test.set("DB_PASSWORD", "one")
        yield* settle
        bad.clear()
        yield* TestClock.adjust("5 minutes")
        yield* settle
        assert.deepStrictEqual(yield* log, ["open one"])
      }).pipe(Effect.provide(layer))
    })
  )
})

describe("Coffer.layerTest", () => {
  it.effect("has the values, and emits each change", () =>
    Effect.gen(function* () {
      const coffer = yield* Coffer
      const test = yield* TestCoffer
      const started = yield* Deferred.make<void>()
      const seen = yield* coffer.changes.pipe(
        Stream.tap(() => Deferred.succeed(started, undefined)),
        Stream.map(({ revision, values }) => [revision, ...values.keys()]),
        Stream.take(3),
        Stream.runCollect,
        Effect.fork
      )
      yield* Deferred.await(started)
      yield* test.set("B", "2")
      yield* test.remove("A")
      assert.deepStrictEqual(
        [...(yield* Fiber.join(seen))],
        [
          [1, "A"],
          [2, "A", "B"],
          [3, "B"]
        ]
      )
      assert.strictEqual(Redacted.value(yield* coffer.get("B")), "2")
      const missing = yield* Effect.flip(coffer.get("A"))
      assert.strictEqual(missing.message, "A does not exist in test/test/test")
    }).pipe(Effect.provide(Coffer.layerTest({ A: "1" })))
  )
})
