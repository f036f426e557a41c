import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import "../examples/effect/orders.test.js"
import { type Account, testPlace } from "./support/Place.js"

const root = join(import.meta.dirname, "../../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const examples = ["packages/client/examples", "packages/client-effect4/examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => read(`${folder}/${path}`))
)

describe.each(["docs/applications.md", "docs/leases.md", "packages/client/README.md"])("the programs of %s", (page) => {
  it("are those of the examples, which are compiled and run", () => {
    const blocks = [...read(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, body = ""]) => body)
    assert.isAtLeast(blocks.length, 2)
    for (const block of blocks)
      assert.isTrue(
        examples.some((text) => text.includes(block)),
        block
      )
  })
})

describe("the examples", () => {
  const place = testPlace()
  let reader: Account
  const printed: Array<string> = []

  beforeAll(async () => {
    reader = await place.account("shop")
    await place.environment("app", { DATABASE_URL: "postgres://app@db.internal/shop" })
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  })

  it.each([
    ["effect/main.ts", () => import("../examples/effect/main.js"), "31 characters, port 8080"],
    ["promise/main.ts", () => import("../examples/promise/main.js"), "31 characters"]
  ])("%s runs with the settings of its environment", async (_, load, line) => {
    vi.stubEnv("SERVICE_API_KEY", reader.apiKey)
    vi.stubEnv("SERVICE_SERVER_URL", place.bridge.url)
    vi.stubEnv("COFFER_PLACE", "acme/webshop/app")
    vi.spyOn(console, "log").mockImplementation((text: string) => void printed.push(text))
    await load()
    assert.strictEqual(printed.at(-1), line)
  })

  it("list the keys of an environment by a call", async () => {
    await place.write("prod", { set: { DATABASE_URL: "postgres://app@db.internal/shop" } })
    const [{ Effect }, { Coffer }, { keys }] = await Promise.all([
      import("effect"),
      import("../src/Coffer.js"),
      import("../examples/effect/call.js")
    ])
    const layer = Coffer.layer(place.options("prod", reader))
    assert.deepStrictEqual(await keys.pipe(Effect.provide(layer), Effect.orDie, Effect.runPromise), ["DATABASE_URL"])
  })

  it("list the keys of an environment by a call of promises, or say that they may not", async () => {
    await place.write("prod", { set: { DATABASE_URL: "postgres://app@db.internal/shop" } })
    vi.stubEnv("SERVICE_API_KEY", reader.apiKey)
    vi.stubEnv("SERVICE_SERVER_URL", place.bridge.url)
    vi.stubEnv("COFFER_PLACE", "acme/webshop/app")
    const { coffer, keys } = await import("../examples/promise/call.js")
    assert.deepStrictEqual(await keys(), ["DATABASE_URL"])
    await place.ok("service-account", "revoke", reader.id, "--yes")
    const refused = await keys().then(undefined, (error: unknown) => error)
    assert.deepInclude(refused, { reason: "Unauthorized" })
    await coffer.close()
  })

  it("describe the errors of a read", async () => {
    const [{ Effect }, { Coffer }, { described }] = await Promise.all([
      import("effect"),
      import("../src/Coffer.js"),
      import("../examples/effect/errors.js")
    ])
    vi.spyOn(console, "log").mockImplementation(() => undefined)
    assert.strictEqual(
      await described.pipe(Effect.provide(Coffer.layerTest({})), Effect.orDie, Effect.runPromise),
      "revision 1"
    )
  })
})
