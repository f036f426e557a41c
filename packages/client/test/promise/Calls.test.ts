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
