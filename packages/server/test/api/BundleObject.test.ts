import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { assertRefused, Program } from "../support/Program.js"

const org = "/api/orgs/acme"
const env = `${org}/projects/webshop/envs/prod`
const bundle = `${env}/bundle`

let program: Program
let token: string

beforeAll(async () => {
  program = await Program.start()
  token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", `${org}/projects`, { token, body: { name: "webshop" } })
})

afterAll(async () => {
  await program.remove()
})

const get = async (query: string, headers: Readonly<Record<string, string>> = {}) =>
  program.call("GET", `${bundle}?${query}`, { token, headers })

describe("a bundle as one object", () => {
  it("is {} for an empty environment", async () => {
    assert.strictEqual((await get("format=object")).text, "{}")
  })

  it("has each value by its key, whatever the key, and of the keys that are asked for alone", async () => {
    // More than one slice of the encoder.
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`KEY_${index}`, `"${index}"\n`]))
    const set = JSON.parse(`{"__proto__":"a","constructor":"b","data":"c","revision":"d"}`) as object
    await program.call("PATCH", bundle, {
      token,
      body: { set: { ...many, constructor: "b", data: "c", revision: "d" } }
    })
    await program.call("PUT", `${env}/secrets/__proto__`, { token, body: { value: "a" } })

    const { text } = await get("format=object")
    assert.deepStrictEqual(
      Object.entries(JSON.parse(text) as object).sort(),
      [...Object.entries(many), ...Object.entries(set)].sort()
    )
    assert.strictEqual((await get("format=object&keys=KEY_1,data")).text, '{"KEY_1":"\\"1\\"\\n","data":"c"}')
    assertRefused(await get("format=object&keys=KEY_1,NONE"), 404, "NOT_FOUND", /NONE/)
    assertRefused(await get("format=env"), 400, "VALIDATION_ERROR", /^format: /)
  })

  it("has an ETag of its own: that of the list does not stand for it, nor for a write the other way round", async () => {
    const list = (await get("")).headers.get("etag") ?? ""
    const { headers } = await get("format=object")
    const object = headers.get("etag") ?? ""
    assert.notStrictEqual(object, list)
    assert.strictEqual((await get("format=object", { "if-none-match": object })).status, 304)
    assert.strictEqual((await get("format=object", { "if-none-match": list })).status, 200)
    assert.strictEqual((await get("", { "if-none-match": object })).status, 200)
    assert.strictEqual((await get("format=list", { "if-none-match": list })).status, 304)

    await program.call("PUT", `${env}/secrets/data`, { token, body: { value: "new" } })
    assert.strictEqual((await get("format=object", { "if-none-match": object })).status, 200)
  })

  it("makes the audit entry of a bundle", async () => {
    await get("format=object&keys=data")
    await vi.waitFor(async () => {
      const { body } = await program.call("GET", `${org}/audit-logs?action=secret.read`, { token })
      const [newest] = body.data
      assert.deepInclude(newest, { action: "secret.read", resource_type: "env" })
      assert.deepStrictEqual(newest.metadata.keys, [{ key: "data", version: 2 }])
    })
  })
})
