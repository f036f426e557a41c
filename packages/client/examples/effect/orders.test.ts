import { Coffer, TestCoffer } from "@coffer/client"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { orders, PoolReloaded } from "./reload.js"

const Test = PoolReloaded.pipe(Layer.provideMerge(Coffer.layerTest({ DATABASE_URL: "postgres://one" })))

it.effect("orders are read with the new address", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* orders, "SELECT * FROM orders by 14 characters")
    const test = yield* TestCoffer
    yield* test.set("DATABASE_URL", "postgres://another")
    const coffer = yield* Coffer
    yield* coffer.changes.pipe(Stream.take(1), Stream.runDrain)
    yield* Effect.yieldNow().pipe(Effect.repeatN(100))
    assert.strictEqual(yield* orders, "SELECT * FROM orders by 18 characters")
  }).pipe(Effect.provide(Test))
)
