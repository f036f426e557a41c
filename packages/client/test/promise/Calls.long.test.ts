import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CallError, connect, type Connection } from "../../src/promise.js"
import { apiErrors } from "../../src/promise/Routes.js"
import { errors } from "../../src/promise/PlainErrors.js"
import { errors as contractErrors } from "@coffer/domain/errors/Errors"
import { type Account, testPlace } from "../support/Place.js"

const place = testPlace()
let account: Account
let coffer: Connection

const path = { org_name: "acme", project_name: "webshop", env_name: "dev" }

beforeAll(async () => {
  account = await place.account("deployer")
  await place.ok(
    ...["acl", "grant", "--service-account", account.id],
    ...["--project-pattern", "webshop", "--env-pattern", "*", "--permission", "write"]
  )
  await place.write("dev", { set: { A: "1" } })
  const credential = { apiKey: account.apiKey }
  coffer = await connect({ server: place.bridge.url, place: "acme/webshop/dev", credential })
})
afterAll(() => coffer.close())

const failure = async (promise: Promise<unknown>): Promise<CallError> => {
  const error = await promise.then(undefined, (error: unknown) => error)
  return error instanceof CallError ? error : assert.fail(`no call failed: ${String(error)}`)
}

describe("coffer.call", () => {
  it("reads and writes, with paths, parameters and payloads that are typed", async () => {
    const written = await coffer.call("secrets", (api) =>
      api.set({ path: { ...path, key: "B.c" }, payload: { value: "é & <two>\n", expected_version: 0 } })
    )
    assert.strictEqual(written.version, 1)
    const { value } = await coffer.call("secrets", (api) => api.get({ path: { ...path, key: "B.c" } }))
    assert.strictEqual(value, "é & <two>\n")
    const { data } = await coffer.call("secrets", (api) => api.list({ path }))
    assert.deepStrictEqual(
      data.map(({ key }) => key),
      ["A", "B.c"]
    )
    const bundle = await coffer.call("environments", (api) => api.bundle({ path, urlParams: { keys: "A" } }))
    assert.deepInclude(bundle, { revision: 2 })
    const me = await coffer.call("auth", (api) => api.me())
    assert.strictEqual(me.type, "service_account")
    await coffer.call("secrets", (api) => api.delete({ path: { ...path, key: "B.c" } }))
  })

  it("fails with the errors of the contract, by their tags, and shows no value", async () => {
    const absent = await failure(coffer.call("secrets", (api) => api.get({ path: { ...path, key: "NONE" } })))
    assert.deepInclude(absent, { name: "CallError", reason: "NotFound", status: 404 })
    const set = (value: string) =>
      coffer.call("secrets", (api) => api.set({ path: { ...path, key: "A" }, payload: { value, expected_version: 7 } }))
    const conflict = await failure(set("canary"))
    assert.strictEqual(conflict.reason, "Conflict")
    const long = await failure(set("canary".repeat(20_000)))
    assert.strictEqual(long.reason, "ValidationError")
    const forbidden = await failure(coffer.call("members", (api) => api.list({ path })))
    assert.strictEqual(forbidden.reason, "Forbidden")
    for (const error of [conflict, long]) assert.notInclude(String(error.stack), "canary")
  })

  it("sends no request whose path would lead to another call", async () => {
    for (const key of ["", ".", ".."]) {
      const error = await failure(coffer.call("secrets", (api) => api.delete({ path: { ...path, key } })))
      assert.deepInclude(error, { reason: "InvalidRequest", status: undefined })
      assert.strictEqual(error.message, "path.key: must name something")
    }
    const odd = await failure(coffer.call("secrets", (api) => api.get({ path: { ...path, key: "../A" } })))
    assert.strictEqual(odd.reason, "ValidationError")
    assert.deepStrictEqual(coffer.all(), { A: "1" })
  })

  it.each([
    ["secrts", "get", {}, "secrts: there is no such group of calls; did you mean secrets?"],
    ["secrets", "gett", {}, "gett: there is no such call of secrets; did you mean get?"],
    ["secrets", "get", undefined, "path.org_name: is missing; this call takes org_name, project_name, env_name, key"],
    ["secrets", "get", "canary", "request: must be an object with path, urlParams or payload"],
    [
      "secrets",
      "get",
      { params: path },
      "params: there is no such part of a call; it is one of path, urlParams, payload"
    ],
    ["secrets", "get", { path }, "path.key: is missing; this call takes org_name, project_name, env_name, key"],
    [
      "secrets",
      "get",
      { path: { ...path, name: "canary" } },
      "path.key: is missing; this call takes org_name, project_name, env_name, key"
    ],
    ["secrets", "get", { path: { ...path, key: 7 } }, "path.key: must be a text"],
    [
      "secrets",
      "get",
      { path: { ...path, key: "A" }, urlParams: { verson: 1 } },
      "urlParams.verson: there is no such name; did you mean version?"
    ],
    [
      "secrets",
      "get",
      { path: { ...path, key: "A" }, urlParams: { version: null } },
      "urlParams.version: must be a text, a number or a boolean"
    ],
    ["secrets", "get", { path: { ...path, key: "A" }, payload: { value: "canary" } }, "payload: this call takes none"],
    ["secrets", "set", { path: { ...path, key: "A" } }, "payload: is missing"],
    ["secrets", "set", { path: { ...path, key: "A" }, payload: "canary" }, "payload: must be an object"],
    [
      "secrets",
      "set",
      { path: { ...path, key: "A" }, payload: { valu: "canary" } },
      "payload.valu: there is no such name; did you mean value?"
    ],
    ["secrets", "set", { path: { ...path, key: "A" }, payload: {} }, "payload.value: is missing"],
    ["auth", "me", { urlParams: { limit: 1 } }, "urlParams.limit: this call takes none"]
  ])("sends nothing for %s.%s %j, and says why", async (group, name, request, sentence) => {
    const untyped: { readonly call: (...args: ReadonlyArray<unknown>) => Promise<unknown> } = Object.create(coffer)
    await place.bridge.close()
    const made = untyped.call(group, (api: Readonly<Record<string, (given: unknown) => unknown>>) =>
      api[name]?.(request)
    )
    const error = await failure(made)
    await place.bridge.open()
    assert.deepInclude(error, { reason: "InvalidRequest", status: undefined, message: sentence })
  })

  it("says that a change of a protected environment waits for votes, with its reason", async () => {
    await place.environment("live", { A: "1" })
    await place.ok("environment", "protect", "live", "--needed", "1", "--self")
    const live = { ...path, env_name: "live" }
    const error = await failure(
      coffer.call("secrets", (api) => api.set({ path: { ...live, key: "A" }, payload: { value: "2" } }), {
        reason: "INC-12 größer"
      })
    )
    assert.deepInclude(error, { reason: "ChangeRequested", status: 202 })
    assert.deepInclude(error.request, { env: "live", reason: "INC-12 größer", state: "pending" })
  })

  it("fails without the server as a read does", async () => {
    await place.bridge.close()
    const error = await failure(coffer.call("secrets", (api) => api.list({ path })))
    assert.strictEqual(error.reason, "ServerUnreachable")
    await place.bridge.open()
  })
})

describe("the calls of the promise client", () => {
  it("are those of the contract", () => {
    const root = join(import.meta.dirname, "../../../..")
    execFileSync(process.execPath, ["scripts/calls.mjs", "--check"], { cwd: root, stdio: "pipe" })
  })

  it("have the errors of the contract, by code, tag and status", () => {
    const plain = errors.map((one) => [one.code, new one({ message: "" })._tag, one.status])
    assert.deepStrictEqual(
      plain,
      contractErrors.map((one) => [one.code, new one({ message: "" })._tag, one.status])
    )
    assert.lengthOf(Object.keys(apiErrors), plain.length)
  })
})
