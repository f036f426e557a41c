import { Config, Context, Data, Deferred, Effect, Fiber, Layer, Logger, Redacted, Schedule } from "effect"
import { assert, describe, it } from "vitest"
import { Coffer, TestCoffer } from "../src/index.js"

class Pool extends Context.Service<Pool, { readonly password: string }>()("shop/Pool") {}

class Refused extends Data.TaggedError("Refused")<{ readonly password: string }> {}

/** A pool that notes when it is opened and closed; it cannot be opened with the passwords in `bad`. */
const scene = () => {
  const log: Array<string> = []
  const said: Array<string> = []
  const bad = new Set<string>()
  const pool = Layer.effect(
    Pool,
    Effect.gen(function* () {
      const password = Redacted.value(yield* Config.Redacted("DB_PASSWORD"))
      if (bad.has(password)) return yield* new Refused({ password })
      yield* Effect.acquireRelease(
        Effect.sync(() => log.push(`open ${password}`)),
        () => Effect.sync(() => log.push(`close ${password}`))
      )
      return { password }
    })
  )
  const secrets = Coffer.layerTest({ DB_HOST: "db", DB_PASSWORD: "one", OTHER: "x" })
  const logger = Logger.layer([Logger.make(({ message }) => void said.push([message].flat().map(String).join(" ")))])
  const layer = Coffer.reload(Pool, pool, ["DB_HOST", "DB_PASSWORD"]).pipe(
    Layer.provideMerge(secrets),
    Layer.provideMerge(logger)
  )
  return { bad, layer, log, said }
}

const use = <A>(work: Effect.Effect<A>) => Coffer.using(Pool)(Effect.flatMap(Pool, () => work))
const password = Coffer.using(Pool)(Effect.map(Pool, ({ password }) => password))

const until = (is: () => boolean) =>
  Effect.suspend(() => (is() ? Effect.void : Effect.fail("not yet"))).pipe(
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.timeout("20 seconds")
  )

describe("a resource built again when a key changes, on Effect 4", () => {
  it("replaces the old one once the new one stands, and is released at the end", async () => {
    const { layer, log, said } = scene()
    await Effect.gen(function* () {
      const test = yield* TestCoffer
      assert.strictEqual(yield* password, "one")
      yield* test.set("DB_PASSWORD", "two")
      yield* until(() => log.includes("close one"))
      assert.strictEqual(yield* password, "two")
      yield* test.set("OTHER", "y")
      yield* test.set("DB_PASSWORD", "two")
      yield* Effect.sleep("50 millis")
      assert.deepStrictEqual(log, ["open one", "open two", "close one"])
      assert.deepStrictEqual(said, [])
    }).pipe(Effect.provide(layer), Effect.runPromise)
    assert.deepStrictEqual(log, ["open one", "open two", "close one", "close two"])
  })

  it("stays while the new one cannot be built, which is tried again, and no warning has a value", async () => {
    const { bad, layer, log, said } = scene()
    await Effect.gen(function* () {
      const test = yield* TestCoffer
      bad.add("canary")
      yield* test.set("DB_PASSWORD", "canary")
      yield* until(() => said.length > 0)
      assert.deepStrictEqual(said, ["shop/Pool could not be opened again, so the old one stays: Refused"])
      assert.strictEqual(yield* password, "one")
      yield* test.remove("DB_PASSWORD")
      yield* until(() => said.length > 1)
      assert.match(said[1] ?? "", /the old one stays: ConfigError$/)
      assert.strictEqual(yield* password, "one")
      bad.clear()
      yield* test.set("DB_PASSWORD", "canary")
      yield* until(() => log.includes("close one"))
      assert.strictEqual(yield* password, "canary")
    }).pipe(Effect.provide(layer), Effect.runPromise)
  })

  it("is tried again without a further change", async () => {
    const { bad, layer, log, said } = scene()
    await Effect.gen(function* () {
      const test = yield* TestCoffer
      bad.add("two")
      yield* test.set("DB_PASSWORD", "two")
      yield* until(() => said.length > 0)
      bad.clear()
      yield* until(() => log.includes("close one"))
    }).pipe(Effect.provide(layer), Effect.runPromise)
  })

  it("is released only after the effects that run with it", async () => {
    const { layer, log } = scene()
    await Effect.gen(function* () {
      const test = yield* TestCoffer
      const done = yield* Deferred.make<void>()
      const held = yield* Effect.forkChild(use(Deferred.await(done)), { startImmediately: true })
      yield* test.set("DB_PASSWORD", "two")
      yield* until(() => log.includes("open two"))
      yield* Effect.sleep("50 millis")
      assert.deepStrictEqual(log, ["open one", "open two"])
      yield* Deferred.succeed(done, undefined)
      yield* Fiber.join(held)
      yield* until(() => log.includes("close one"))
    }).pipe(Effect.provide(layer), Effect.runPromise)
  })

  it("fails with the layer's own error if it cannot be built at first", async () => {
    const { bad, layer, log } = scene()
    bad.add("one")
    const error = await password.pipe(Effect.provide(layer), Effect.flip, Effect.runPromise)
    assert.strictEqual(error._tag, "Refused")
    assert.deepStrictEqual(log, [])
  })
})
