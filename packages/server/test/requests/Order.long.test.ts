import { Api } from "@coffer/domain/Api"
import { AskingHeaders } from "@coffer/domain/api/AskingHeaders"
import { HttpApi } from "@effect/platform"
import { Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { apiDocument } from "../../src/edges/system/ApiDocument.js"
import { endpoints } from "../authorization/Contract.js"
import { prepareOn } from "../authorization/Losses.js"
import { restsOn } from "../authorization/Scene.js"
import type { Json } from "../support/Program.js"
import { startWorld, type World } from "./World.js"

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

type Case = readonly [
  what: string,
  method: string,
  path: (place: { readonly org: string; readonly project: string; readonly prod: string }) => string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  expected: readonly [status: number, code: string]
]

const conflict = [409, "CONFLICT"] as const
const notFound = [404, "NOT_FOUND"] as const
const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"

const cases: ReadonlyArray<Case> = [
  ["a key that does not exist", "DELETE", ({ prod }) => `${prod}/secrets/NONE`, undefined, {}, notFound],
  ["a version that does not exist", "POST", ({ prod }) => `${prod}/secrets/A/rollback`, { version: 9 }, {}, notFound],
  [
    "another version than expected",
    "PUT",
    ({ prod }) => `${prod}/secrets/A`,
    { value: "x", expected_version: 7 },
    {},
    conflict
  ],
  [
    "another state than expected",
    "PATCH",
    ({ prod }) => `${prod}/bundle`,
    { set: { A: "x" } },
    { "if-match": `"other"` },
    conflict
  ],
  ["a use rule that does not exist", "DELETE", ({ prod }) => `${prod}/use-rules/${id}`, undefined, {}, notFound],
  ["a name that is taken", "PATCH", ({ project }) => project, { name: "taken" }, {}, conflict],
  [
    "a protection that nobody could vote on",
    "PUT",
    ({ prod }) => `${prod}/protection`,
    { needed: 3, approvers: "owners" },
    {},
    conflict
  ],
  [
    "a reference to nothing",
    "PUT",
    ({ prod }) => `${prod}/secrets/A`,
    { value: "${staging:NONE}", kind: "reference" },
    {},
    [409, "REFERENCE_REFUSED"]
  ]
]

describe("a change of a protected environment without Prefer", () => {
  it.each(cases)(
    "that fails anyway says so, and asks for no votes: %s",
    async (_what, method, path, body, headers, [status, code]) => {
      const { call, pair, protectedOne } = { ...world, pair: world }
      const one = await protectedOne()
      await pair.first.asRoot("POST", `${one.org}/projects`, { name: "taken" })
      const refused = await call({ ...one.owner.headers, ...headers }, method, path(one), body)
      assert.strictEqual(refused.body.error.code, code, JSON.stringify(refused.body))
      assert.strictEqual(refused.status, status)
      assert.notInclude(refused.body.error.message, "respond-async")
    }
  )

  it("that could be made asks for votes, and changes and stores nothing", async () => {
    const { call, logOf, protectedOne, valueOf } = world
    const one = await protectedOne()
    const before = await logOf(one)
    const refused = await call(one.dev.headers, "PATCH", `${one.prod}/bundle`, { set: { A: "two", B: "new" } })
    assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "APPROVAL_REQUIRED"])
    assert.strictEqual(await valueOf(one, "A"), "one")
    assert.strictEqual(await valueOf(one, "B"), undefined)
    const after = await logOf(one)
    assert.deepStrictEqual(
      after.filter(({ action }) => action !== "secret.read" && action !== "access.denied").map(({ id }) => id),
      before.map(({ id }) => id)
    )
    assert.deepStrictEqual((await call(one.owner.headers, "GET", `${one.org}/requests`)).body.data, [])
  })

  it("by somebody without the right is forbidden, and by a stranger not found", async () => {
    const { call, protectedOne } = world
    const one = await protectedOne()
    const by = async (headers: Readonly<Record<string, string>>) =>
      (await call(headers, "PUT", `${one.prod}/secrets/A`, { value: "x" })).status
    const stranger = (await protectedOne()).dev
    assert.deepStrictEqual([await by(one.guest.headers), await by(stranger.headers)], [403, 404])
  })
})

const document: Json = JSON.parse(JSON.stringify(apiDocument()))
const names = Object.keys(AskingHeaders.fields)

const headersOf = ({ method, path }: { readonly method: string; readonly path: string }): ReadonlyArray<string> =>
  document.paths[path.replace(/:([a-z_]+)/g, "{$1}")][method.toLowerCase()].parameters
    .filter((parameter: Json) => parameter.in === "header")
    .map(({ name }: Json) => name)

describe("the headers of requests", () => {
  const declared = new Set<string>()
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors }) => {
      if (errors.has(202)) declared.add(`${endpoint.method} ${endpoint.path}`)
    }
  })

  it.each(endpoints.map((endpoint) => [endpoint.call, endpoint] as const))(
    "for votes are declared for %s exactly if the server reads them",
    async (_call, endpoint) => {
      assert.deepStrictEqual(
        headersOf(endpoint).filter((name) => names.includes(name)),
        declared.has(endpoint.call) ? names : []
      )
      const { ask } = await prepareOn(world.first, endpoint, restsOn(endpoint).account ? "account" : "user")
      for (const name of ["x-coffer-reason", "x-coffer-break-glass"]) {
        const { text } = await world.second.send({ ...ask, headers: { ...ask.headers, [name]: "%" } })
        assert.strictEqual(text.includes(`the header ${name}: must be a reason`), declared.has(endpoint.call), text)
      }
    }
  )

  it("are declared, or stand in this list with the reason why not", () => {
    const undeclared: Readonly<Record<string, string>> = {
      host: "HTTP",
      "content-length": "HTTP",
      "content-type": "HTTP",
      "content-encoding": "HTTP",
      "transfer-encoding": "HTTP",
      "accept-encoding": "HTTP",
      accept: "HTTP: which files a browser gets",
      expect: "HTTP",
      origin: "of browsers",
      referer: "of browsers",
      cookie: "a credential: securitySchemes",
      authorization: "a credential: securitySchemes",
      "x-api-key": "a credential: securitySchemes",
      "x-coffer": "of the console, beside its cookie",
      purpose: "of the console, whose early reads accept no invitation",
      "sec-fetch-site": "of browsers",
      "user-agent": "for the log of sessions",
      "x-coffer-client": "for the log",
      "x-request-id": "for the log",
      traceparent: "of tracing",
      "x-real-ip": "of proxies",
      "x-forwarded-for": "of proxies",
      "access-control-request-method": "of browsers",
      "access-control-request-headers": "of browsers"
    }
    const root = fileURLToPath(new URL("../../src", import.meta.url))
    const read = new Set<string>()
    for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      // The view of Vault's API has a contract of its own, and webhooks and uses send headers.
      if (!file.endsWith(".ts") || /vault|outbound|\/use\/|Sender\.ts|Vault/.test(file)) continue
      const text = readFileSync(join(root, file), "utf8")
      for (const [, name = "", other = ""] of text.matchAll(/headers(?:\["([a-z-]+)"\]|\.([a-z]+)\b(?!\())/g))
        read.add(name || other)
    }
    const serverPlace = new Set(endpoints.flatMap(headersOf))
    const ofResponses = [
      ...["vary", "cache-control", "etag", "location", "content-security-policy", "retry-after", "date"],
      "www-authenticate"
    ]
    const unknown = [...read]
      .filter((name) => !ofResponses.includes(name) && !name.startsWith("x-vault-"))
      .filter((name) => !serverPlace.has(name) && undeclared[name] === undefined)
    assert.deepStrictEqual(unknown, [])
    for (const name of names) assert.isTrue(serverPlace.has(name), name)
    assert.isTrue(Schema.isSchema(AskingHeaders))
  })
})
