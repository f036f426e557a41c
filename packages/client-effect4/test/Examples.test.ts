import { Coffer, TestCoffer } from "@coffer/client-effect4"
import { Effect, Layer, Schedule } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { type Account, testPlace } from "../../client/test/support/Place.js"
import { orders, PoolReloaded } from "../examples/pool.js"

const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8")

describe("the examples on Effect 4", () => {
  const place = testPlace()
  let reader: Account
  beforeAll(async () => {
    reader = await place.account("shop")
    await place.environment("app", { DATABASE_URL: "postgres://app@db.internal/shop" })
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  })

  it("run with the settings of their environment, as the README has them", async () => {
    assert.include(read("README.md"), read("examples/main.ts"))
    const printed: Array<unknown> = []
    vi.stubEnv("SERVICE_API_KEY", reader.apiKey)
    vi.stubEnv("SERVICE_SERVER_URL", place.bridge.url)
    vi.stubEnv("COFFER_PLACE", "acme/webshop/app")
    vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text))
    await import("../examples/main.js")
    assert.deepStrictEqual(printed, ["31 characters, port 8080"])
  })

  it("build a pool again after a change", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* orders, "SELECT * FROM orders by 14 characters")
      const test = yield* TestCoffer
      yield* test.set("DATABASE_URL", "postgres://another")
      yield* orders.pipe(
        Effect.repeat({ until: (text) => text.endsWith(" 18 characters"), schedule: Schedule.spaced("10 millis") }),
        Effect.timeout("20 seconds")
      )
    }).pipe(
      Effect.provide(Layer.provideMerge(PoolReloaded, Coffer.layerTest({ DATABASE_URL: "postgres://one" }))),
      Effect.scoped,
      Effect.runPromise
    ))
})
