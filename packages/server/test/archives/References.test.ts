import { structureLines } from "@coffer/domain/archive/Calls"
import { maxReferenceDepth, maxReferences } from "@coffer/domain/secrets/Reference"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { comparable, countsIn, finishImport, makeExport, sendImport, withoutMember } from "./Support.js"

// The references of an import obey the rules of a write, although each call of an import has only some of them.

let pair: Pair
let headers: Readonly<Record<string, string>>

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_ORG_CREATION: "anyone" })
  headers = (await someone()).headers
})
afterAll(() => pair.stop())

const someone = async () => {
  const address = email(`${word()}@example.com`)
  return { ...(await pair.first.person(address)), email: address }
}

/** The texts of secrets by environment and key. A reference has `${` in it. */
type Texts = Readonly<Record<"prod" | "dev", Readonly<Record<string, string>>>>

const environments = ["prod", "dev"] as const

const structure = structureLines({
  passkey_recovery: "login" as const,
  ...{ members: [], groups: [], mappings: [], accounts: [], rules: [], webhooks: [] },
  projects: [{ name: "webshop", strict: false, order: [], environments: environments.map((name) => ({ name })) }]
})

/** Imports secrets, and answers how that ended. */
const importing = async (texts: Texts) => {
  const name = `new-${word()}`
  const { id } = await pair.first.do(headers, "POST", "/api/imports", { name, organization: structure })
  let secrets = 0
  for (const env of environments) {
    const all = Object.entries(texts[env])
    secrets += all.length
    for (let at = 0; at < all.length; at += 200) {
      const data = all.slice(at, at + 200).map(([key, value], index) => ({
        ...{ key, value, version: 1, revision: at + index + 1, kind: value.includes("${") ? "reference" : "text" },
        ...{ created_at: "2026-01-31T08:00:00.000Z", created_by: "ada@example.com", current: { use_rules: [] } }
      }))
      await pair.second.do(headers, "PUT", `/api/imports/${id}/secrets`, { project: "webshop", env, data })
    }
  }
  const counts = { projects: 1, environments: 2, secrets, versions: secrets, use_rules: 0, declared: 0 }
  const path = `/api/imports/${id}/finish`
  const { status, text } = await pair.first.send({ method: "POST", path, headers, body: { counts } })
  const body: Json = JSON.parse(text)
  if (status !== 200) await pair.first.do(headers, "DELETE", `/api/imports/${id}`)
  const seen = await pair.second.send({ method: "GET", path: `/api/orgs/${name}`, headers })
  assert.strictEqual(seen.status, status === 200 ? 200 : 404)
  return { name, status, body, code: body?.error?.code, message: body?.error?.message ?? "" }
}

const chain = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`KEY_${at}`, at === length - 1 ? "end" : `\${KEY_${at + 1}}`]))

describe("an import", () => {
  it("is refused at its end for a secret that refers to itself, as a write is", async () => {
    const same = await importing({ prod: { A: "${B}", B: "${C}", C: "${A}", FREE: "x" }, dev: {} })
    assert.deepStrictEqual([same.status, same.code], [409, "REFERENCE_REFUSED"])
    assert.match(
      same.message,
      /^webshop\/prod\/\w would refer to itself: (?:webshop\/prod\/\w -> ){3}webshop\/prod\/\w: change it where/
    )
    const across = await importing({ prod: { A: "${dev:A}" }, dev: { A: "${prod:A}" } })
    assert.strictEqual(across.code, "REFERENCE_REFUSED")
    assert.include(across.message, "would refer to itself")
    const itself = await importing({ prod: { A: "${A}" }, dev: {} })
    assert.include(itself.message, "webshop/prod/A would refer to itself: webshop/prod/A -> webshop/prod/A")
  })

  it("is refused at its end for a secret that passes too many others", async () => {
    const deepest = await importing({ prod: chain(maxReferenceDepth + 1), dev: {} })
    assert.strictEqual(deepest.status, 200, deepest.message)
    const deeper = await importing({ prod: chain(maxReferenceDepth + 2), dev: {} })
    assert.strictEqual(deeper.code, "REFERENCE_REFUSED")
    assert.match(deeper.message, /^webshop\/prod\/KEY_\d would exceed the maximum reference depth of 5/)
  })

  it("is refused at its end for more references than the secrets of a project have", async () => {
    const keys = Array.from({ length: maxReferences }, (_, at) => `KEY_${at}`)
    const text = keys.map((key) => `\${${key}}`).join("")
    const texts = (count: number) => ({
      prod: {
        ...Object.fromEntries(keys.map((key) => [key, "x"])),
        ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`ALL_${at}`, text]))
      },
      dev: {}
    })
    const most = 20_000 / maxReferences
    const full = await importing(texts(most))
    assert.strictEqual(full.status, 200, full.message)
    const more = await importing(texts(most + 1))
    assert.strictEqual(more.code, "LIMIT_EXCEEDED")
    assert.strictEqual(more.message, "the secrets of project webshop have at most 20,000 references together")
  })

  it("notes references to secrets that are missing, as after a forced removal, and keeps them", async () => {
    const few = await importing({ prod: { URL: "https://${HOST}/${dev:PATH}", GOOD: "${BASE}", BASE: "x" }, dev: {} })
    assert.deepStrictEqual(few.body.left_out, [
      "webshop/dev/PATH, to which webshop/prod/URL refers: it was not in the archive, and webshop/prod/URL cannot be read until it is set",
      "webshop/prod/HOST, to which webshop/prod/URL refers: it was not in the archive, and webshop/prod/URL cannot be read until it is set"
    ])
    const prod = `/api/orgs/${few.name}/projects/webshop/envs/prod/secrets`
    assert.strictEqual((await pair.first.do(headers, "GET", `${prod}/GOOD`)).value, "x")
    const broken = await pair.first.send({ method: "GET", path: `${prod}/URL`, headers })
    assert.strictEqual(broken.status, 409)
    for (const [env, key] of [
      ["prod", "HOST"],
      ["dev", "PATH"]
    ]) {
      const path = `/api/orgs/${few.name}/projects/webshop/envs/${env}/secrets/${key}`
      await pair.first.do(headers, "PUT", path, { value: key })
    }
    assert.strictEqual((await pair.first.do(headers, "GET", `${prod}/URL`)).value, "https://HOST/PATH")

    const many = await importing({
      prod: Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`KEY_${at}`, "${GONE}"])),
      dev: {}
    })
    assert.strictEqual(many.body.left_out.length, 21)
    assert.strictEqual(many.body.left_out[20], "the targets of 5 more references")
    const none = await importing({ prod: { A: "x", B: "${A}" }, dev: {} })
    assert.deepStrictEqual(none.body.left_out, [])
  })

  it("takes what an export has whose organization lost a secret that others refer to", async () => {
    const owner = await someone()
    const org = `org-${word()}`
    await pair.first.do(owner.headers, "POST", "/api/orgs", { name: org })
    await pair.first.do(owner.headers, "POST", `/api/orgs/${org}/projects`, { name: "webshop" })
    const prod = `/api/orgs/${org}/projects/webshop/envs/prod`
    await pair.first.do(owner.headers, "PUT", `${prod}/secrets/HOST`, { value: "host" })
    await pair.first.do(owner.headers, "PUT", `${prod}/secrets/URL`, { value: "https://${HOST}", kind: "reference" })
    await pair.first.do(owner.headers, "DELETE", `${prod}/secrets/HOST?force=1`)
    const archive = await makeExport(pair.first, owner.headers, org)
    const importer = await someone()
    const to = `new-${word()}`
    const made = await sendImport(pair.second, importer.headers, to, archive)
    const finished = await finishImport(pair.first, importer.headers, made, countsIn(archive))
    assert.strictEqual(finished.left_out.length, 1)
    assert.match(finished.left_out[0], /^webshop\/prod\/HOST, to which webshop\/prod\/URL refers: /)
    const copy = await makeExport(pair.first, importer.headers, to)
    assert.deepStrictEqual(comparable(withoutMember(copy, importer.email)), comparable(archive))
  })
})
