import { CompactMatrix } from "@coffer/domain/secrets/CompactMatrix"
import { matrixOf } from "@coffer/domain/secrets/MatrixOf"
import * as Schema from "effect/Schema"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Program } from "../support/Program.js"

let program: Program
const org = "/api/orgs/acme"
const project = `${org}/projects/webshop`
const tokens = { ada: "", grace: "" }

const write = async (method: string, path: string, body: object) => {
  const { status, text } = await program.call(method, path, { token: tokens.ada, body })
  assert.isBelow(status, 300, `${method} ${path}: ${text}`)
}
const get = (query: string, token = tokens.ada, headers: Readonly<Record<string, string>> = {}) =>
  program.call("GET", `${project}/matrix${query}`, { token, headers })

beforeAll(async () => {
  program = await Program.start()
  tokens.ada = await program.login("ada@example.com")
  await write("POST", "/api/orgs", { name: "acme" })
  await write("POST", `${org}/projects`, { name: "webshop" })
  await write("POST", `${org}/members`, { email: "grace@example.com", role: "developer" })
  tokens.grace = await program.login("grace@example.com")
})
afterAll(() => program.remove())

const decode = Schema.decodeUnknownSync(CompactMatrix)

describe("the compact form of a matrix", () => {
  it("stands for the same matrix, with writers, references, due dates and what one may not see", async () => {
    const [staging, prod] = [`${project}/envs/staging`, `${project}/envs/prod`]
    await write("PATCH", `${staging}/bundle`, { set: { B: "same", D: "hunter3" } })
    await write("PATCH", `${prod}/bundle`, { set: { A: "hunter2", B: "same" }, references: { C: "${staging:B}" } })
    await write("PATCH", `${prod}/secrets/A`, { expires_at: "2027-01-31", owner: "grace@example.com" })
    await write("PATCH", `${staging}/secrets/D`, { rotate_every_days: 90 })
    const rule = { subject_type: "user", email: "grace@example.com", project_pattern: "*", env_pattern: "staging" }
    await write("POST", `${org}/acl`, { ...rule, permission: "write" })
    const set = await program.call("PUT", `${staging}/secrets/E`, { token: tokens.grace, body: { value: "hunter4" } })
    assert.isBelow(set.status, 300, set.text)
    const full = await get("")
    const compact = await get("?format=compact")
    assert.deepStrictEqual(matrixOf(decode(compact.body)), full.body)
    assert.deepStrictEqual(compact.body.writers, ["ada@example.com", "grace@example.com"])
    assert.strictEqual(compact.body.facts.length, 3)
    assert.notInclude(compact.text, "hunter")
    const seen = await get("?format=compact", tokens.grace)
    assert.deepStrictEqual(matrixOf(decode(seen.body)), (await get("", tokens.grace)).body)
    assert.deepStrictEqual(
      seen.body.data.map(({ key }: { readonly key: string }) => key),
      ["B", "D", "E"]
    )
  })

  it("gets 304 while nothing has changed, and 400 for a form that there is not", async () => {
    const etag = (await get("?format=compact")).headers.get("etag") ?? ""
    assert.strictEqual((await get("?format=compact", tokens.ada, { "if-none-match": etag })).status, 304)
    await write("PUT", `${project}/envs/prod/secrets/A`, { value: "other" })
    assert.strictEqual((await get("?format=compact", tokens.ada, { "if-none-match": etag })).status, 200)
    const { status, text } = await get("?format=short")
    assert.strictEqual(status, 400)
    assert.include(text, "format")
  })

  it("takes a sixth of the bytes of 1,000 keys in 5 environments, and a fiftieth when it is compressed", async () => {
    await write("POST", `${org}/projects`, { name: "large" })
    const large = `${org}/projects/large`
    const names = Array.from({ length: 1_000 }, (_, index) => `SERVICE_${index % 37}_SETTING_${index}`)
    for (const name of ["qa", "perf"]) await write("POST", `${large}/envs`, { name })
    for (const env of ["dev", "qa", "staging", "perf", "prod"]) {
      const set = Object.fromEntries(names.map((key, index) => [key, index % 3 === 0 ? env : "same"]))
      await write("PATCH", `${large}/envs/${env}/bundle`, { set })
    }
    const full = (await program.call("GET", `${large}/matrix`, { token: tokens.ada })).text
    const compact = (await program.call("GET", `${large}/matrix?format=compact`, { token: tokens.ada })).text
    const packed = (text: string): number => gzipSync(text, { level: 4 }).length
    const sizes = `${full.length} ${packed(full)} ${compact.length} ${packed(compact)}`
    assert.isAtMost(compact.length, full.length / 6, sizes)
    assert.isAtMost(packed(compact), full.length / 50, sizes)
  })
})
