import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, until } from "../../cli/test/support/Programs.js"
import { type Change, CofferError, connect, type ConnectOptions, MissingSecretError } from "../src/promise.js"
import { type Account, testPlace } from "./support/Place.js"

const place = testPlace()
let reader: Account

beforeAll(async () => {
  reader = await place.account("reader", "app*")
})

const options = (env: string, more?: Partial<ConnectOptions>): ConnectOptions => ({
  server: place.bridge.url,
  place: `acme/webshop/${env}`,
  credential: { apiKey: reader.apiKey },
  every: 200,
  ...more
})

const rejected = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it was resolved"),
    (error: unknown) => error
  )

describe("connect", () => {
  it("reads the environment, and says which keys have changed", async () => {
    await place.environment("app1", { A: "1", B: "2" })
    const coffer = await connect(options("app1"))
    assert.strictEqual(coffer.get("A"), "1")
    assert.deepStrictEqual(coffer.all(), { A: "1", B: "2" })
    const { age, ...snapshot } = coffer.snapshot()
    assert.deepStrictEqual(snapshot, {
      place: "acme/webshop/app1",
      revision: 1,
      values: new Map(Object.entries({ A: "1", B: "2" })),
      refused: new Map()
    })
    assert.isAtLeast(age, 0)
    const changes: Array<Change> = []
    const end = coffer.onChange((change) => changes.push(change))
    await place.write("app1", { set: { C: "3" }, delete: ["B"] })
    await until(() => (changes.length === 1 ? true : undefined), "a change")
    assert.deepStrictEqual(changes, [{ keys: ["B", "C"] }])
    assert.deepStrictEqual(coffer.all(), { A: "1", C: "3" })
    end()
    await place.write("app1", { set: { A: "4" } })
    await coffer.refresh()
    assert.strictEqual(coffer.get("A"), "4")
    assert.lengthOf(changes, 1)
    await coffer.close()
  })

  it("throws typed errors, which name the key, the place and the reason", async () => {
    await place.environment("app2", { A: "1" })
    const coffer = await connect(options("app2"))
    try {
      coffer.get("NONE")
      assert.fail("it was there")
    } catch (error) {
      assert.instanceOf(error, MissingSecretError)
      assert.strictEqual(error instanceof MissingSecretError ? error.key : "", "NONE")
    }
    await coffer[Symbol.asyncDispose]()
    const wrong = await rejected(connect(options("app2", { place: "acme" })))
    assert.instanceOf(wrong, CofferError)
    assert.deepInclude(wrong, { name: "CofferError", reason: "BadSetting" })
    const refused = await rejected(connect(options("app2", { credential: { apiKey: `svc_sa_${"a".repeat(49)}` } })))
    assert.deepInclude(refused, { name: "CofferError", reason: "Unauthorized" })
  })

  it("warns while the server is away, and keeps the values", async () => {
    await place.environment("app3", { A: "1" })
    const warnings: Array<string> = []
    const coffer = await connect(options("app3", { onWarning: (message) => warnings.push(message) }))
    await place.bridge.close()
    await until(() => (warnings.length === 1 ? true : undefined), "a warning")
    assert.deepInclude(await rejected(coffer.refresh()), { reason: "ServerUnreachable" })
    assert.strictEqual(coffer.get("A"), "1")
    await place.bridge.open()
    await coffer.close()
  })

  it("warns in the same way when refresh meets a problem", async () => {
    await place.environment("app5", { A: "1" })
    const warnings: Array<string> = []
    const offline = { folder: join(import.meta.filename, "copies"), maxAge: 60_000 }
    const onWarning = (message: string) => warnings.push(message)
    const coffer = await connect(options("app5", { every: 3_600_000, offline, onWarning }))
    assert.lengthOf(warnings, 1)
    await coffer.refresh()
    assert.lengthOf(warnings, 2)
    for (const warning of warnings) assert.match(warning, /^offline: .* cannot be written: .* is not a directory$/)
    await coffer.close()
    await coffer.close()
  })

  const run = (program: string) =>
    finish(
      spawn(
        process.execPath,
        ["--input-type=module", "--eval", `import { connect } from "@coffer/client/promise"\n${program}`],
        { cwd: import.meta.dirname }
      )
    )

  it("shows no value of a printed connection, and lets a program end that does not close it", async () => {
    await place.environment("app4", { A: "canary-1" })
    const { code, stderr, stdout } = await run(`
      const coffer = await connect(${JSON.stringify(options("app4"))})
      console.log(coffer, JSON.stringify(coffer), coffer.get("A").length)
    `)
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, / 8\n$/)
    assert.notInclude(stdout + stderr, "canary")
  })
  it("does not hold a program up whose server does not respond, unless it waits for a refresh", async () => {
    let requests = 0
    const server = createServer((_, response) => {
      const end = () => response.end(JSON.stringify({ revision: 1, data: [{ key: "A", value: "1" }] }))
      requests += 1
      // The first program's poll gets no response, the second one's a late one.
      if (requests !== 2) setTimeout(end, requests === 4 ? 2_000 : 0)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    const start = performance.now()
    const connected = `
      const coffer = await connect(${JSON.stringify(options("app", { server: url }))})
      await new Promise((resolve) => setTimeout(resolve, 500))
    `
    const left = await run(connected)
    assert.strictEqual(left.code, 0, left.stderr)
    assert.strictEqual(requests, 2)
    // The deadline of the request is 30 seconds.
    assert.isBelow(performance.now() - start, 25_000)
    const { code, stderr, stdout } = await run(`${connected}
      await coffer.refresh()
      console.log("refreshed")
    `)
    assert.deepStrictEqual([code, stdout], [0, "refreshed\n"], stderr)
    server.closeAllConnections()
    server.close()
  })
})
