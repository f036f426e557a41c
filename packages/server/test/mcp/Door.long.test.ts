import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { people, word } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { agents } from "./Agents.js"

// Tools of a remote agent, on two servers of one database.

const canary = "sk_live_CanaryOfTheRemoteAgent"
const origin = "https://agents.example.com"

let pair: Pair

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_MCP_ORIGINS: origin })
})
afterAll(async () => {
  await pair.stop()
})

/** A place with a secret, and a person there who delegates. */
const scene = async (role = "owner") => {
  const org_name = `org-${word()}`
  const org = `/api/orgs/${org_name}`
  await pair.first.asRoot("POST", "/api/orgs", { name: org_name })
  await pair.first.asRoot("POST", `${org}/projects`, { name: "webshop" })
  const prod = `${org}/projects/webshop/envs/prod`
  await pair.first.asRoot("PUT", `${prod}/secrets/SHARED`, { value: canary })
  const address = `${word()}@example.com`
  const person = await pair.first.person(email(address))
  await pair.first.asRoot("POST", `${org}/members`, { email: address, role })
  const delegated = (fields: object = {}): Promise<Json> =>
    pair.first.do(person.headers, "POST", "/api/auth/delegations", {
      ...{ name: "claude", org: org_name, project: "webshop", env: "prod", permission: "write", expires_in: 3600 },
      ...fields
    })
  const delegate = async (fields: object = {}): Promise<string> => (await delegated(fields)).token
  return { org, org_name, prod, person, address, delegated, delegate }
}

const account = async (org: string, permission: string) => {
  const { api_key, id } = await pair.first.asRoot("POST", `${org}/service-accounts`, { name: `agent-${word()}` })
  const subject = { subject_type: "service_account", subject_id: id }
  await pair.first.asRoot("POST", `${org}/acl`, { ...subject, project_pattern: "*", env_pattern: "*", permission })
  return api_key as string
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } }
}

const post = (headers: Readonly<Record<string, string>>, body: unknown = initialize, path = "/mcp") =>
  pair.second.send({
    method: "POST",
    path,
    headers: { accept: "application/json, text/event-stream", ...headers },
    body
  })

describe.each(Object.entries(agents))("the official client of %s", (_version, connect) => {
  const servers = () => [pair.first, pair.second]

  it("works with a delegation, at its place by default", async () => {
    const { delegate, org, prod } = await scene()
    const agent = await connect(servers(), await delegate())
    const tools = await agent.tools()
    assert.lengthOf(tools, 15)
    assert.strictEqual(tools[0], "secret_set")
    const set = await agent.call("secret_set", { key: "MADE", value: "x" })
    assert.strictEqual(set.structured.version, 1, set.text)
    assert.deepStrictEqual(JSON.parse(set.text), set.structured)
    assert.strictEqual((await agent.call("secret_get", { key: "SHARED" })).structured.value, canary)
    assert.strictEqual((await pair.first.asRoot("GET", `${prod}/secrets/MADE`)).value, "x")

    await pair.first.asRoot("GET", `${org}/audit-logs?limit=1`)
    const { data } = await pair.first.asRoot("GET", `${org}/audit-logs?action=secret.set&key=MADE`)
    assert.strictEqual(data[0].metadata.client, "mcp")
    assert.strictEqual(data[0].metadata.delegation.name, "claude")
  })

  it("works with the key of an account, as bearer", async () => {
    const { org } = await scene()
    const agent = await connect(servers(), await account(org, "read"), "?project=webshop&env=prod")
    assert.strictEqual((await agent.call("secret_get", { key: "SHARED" })).structured.value, canary)
    const { isError, text } = await agent.call("secret_set", { key: "A", value: "b" })
    assert.isTrue(isError)
    assert.match(text, /^FORBIDDEN: .* Next: /)
  })

  it("is answered by any server: each of a hundred requests goes to another one", async () => {
    const { delegate } = await scene()
    const agent = await connect(servers(), await delegate())
    for (let n = 1; n <= 50; n++) {
      const { structured } = await agent.call("secret_set", { key: "COUNTED", value: String(n) })
      assert.strictEqual(structured.version, n)
      assert.strictEqual((await agent.call("secret_get", { key: "COUNTED" })).structured.value, String(n))
    }
  })

  it("says which names are missing in the call and in the address", async () => {
    const { org } = await scene()
    const agent = await connect(servers(), await account(org, "read"))
    const { isError, text } = await agent.call("secret_list")
    assert.isTrue(isError)
    assert.match(text, /^MISSING_SETTINGS: no project is given: pass the parameter project, or add project=…/)
    assert.match(text, /no environment is given/)
  })

  it("names the environment where a delegation has several", async () => {
    const { delegate } = await scene()
    const agent = await connect(servers(), await delegate({ also: [{ project: "webshop", env: "staging" }] }))
    assert.match((await agent.call("secret_list")).text, /^MISSING_SETTINGS: no environment is given/)
    for (const env of ["prod", "staging"]) assert.isFalse((await agent.call("secret_list", { env })).isError)
    assert.match((await agent.call("secret_list", { env: "dev" })).text, /^FORBIDDEN: /)
  })

  it("obeys the settings in the address", async () => {
    const { delegate } = await scene()
    const agent = await connect(servers(), await delegate(), "?read_only=1&reveal=0&extra=1&pin=1")
    const tools = await agent.tools()
    assert.include(tools, "secret_find")
    assert.notInclude(tools, "secret_set")
    const read = await agent.call("secret_get", { key: "SHARED" })
    assert.deepStrictEqual(read.structured, { key: "SHARED", version: 1 })
    assert.match((await agent.call("secret_set", { key: "A", value: "b" })).text, /^READ_ONLY: /)
    assert.match((await agent.call("secret_list", { env: "staging" })).text, /^PINNED: /)
  })

  it("gets no value of a delegation without reveal, in no result and no error", async () => {
    const { delegate } = await scene()
    const agent = await connect(servers(), await delegate({ reveal: false, permission: "read" }), "?extra=1&use=1")
    for (const [name, parameters] of [
      ["secret_get", { key: "SHARED" }],
      ["secret_list", {}],
      ["secret_versions", { key: "SHARED" }],
      ["secret_find", { key: "SHARED" }],
      ["secret_compare", { with: "staging" }],
      ["http_request", { method: "GET", url: "https://api.invalid/x", secrets: ["SHARED"] }],
      ["secret_set", { key: canary, value: canary }],
      ["audit_list", {}]
    ] as const) {
      const { structured, text } = await agent.call(name, parameters)
      assert.notInclude(text + JSON.stringify(structured ?? null), canary, name)
    }
  })
})

/** The rights that a person may have later, and the highest permission that each gives. */
const rights = {
  nothing: { role: "developer", rule: undefined, gives: -1 },
  read: { role: "developer", rule: "read", gives: 1 },
  "write of a member, who never writes": { role: "member", rule: "write", gives: 1 },
  write: { role: "developer", rule: "write", gives: 2 },
  "those of an admin": { role: "admin", rule: undefined, gives: 2 }
} as const

const scopes = [
  { permission: "use", reveal: true, gives: 0, reveals: false },
  { permission: "read", reveal: false, gives: 1, reveals: false },
  { permission: "read", reveal: true, gives: 1, reveals: true },
  { permission: "write", reveal: false, gives: 2, reveals: false },
  { permission: "write", reveal: true, gives: 2, reveals: true }
] as const

describe("a delegation at the tool server gives its person's right within its scope", () => {
  it.each(Object.entries(rights))("when the person has %s", async (_name, { gives, role, rule }) => {
    const { address, delegate, org, person } = await scene("admin")
    const made = []
    for (const scope of scopes) {
      const { permission, reveal } = scope
      made.push({
        scope,
        agent: await agents["version 2"]([pair.first, pair.second], await delegate({ permission, reveal }), "?use=1")
      })
    }
    await pair.first.asRoot("PATCH", `${org}/members/${person.id}`, { role })
    if (rule !== undefined) {
      const subject = { subject_type: "user", email: address, project_pattern: "web*", env_pattern: "{prod,staging}" }
      await pair.first.asRoot("POST", `${org}/acl`, { ...subject, permission: rule })
    }
    for (const { agent, scope } of made) {
      const most = Math.min(gives, scope.gives)
      const may = async (name: string, parameters: object = {}) => {
        const { isError, text } = await agent.call(name, { ...parameters })
        if (isError) assert.match(text, /^FORBIDDEN: /)
        return !isError
      }
      const told = JSON.stringify(scope)
      assert.strictEqual(await may("secret_uses"), most >= 0, told)
      assert.strictEqual(await may("secret_list"), most >= 1, told)
      assert.strictEqual(await may("secret_get", { key: "SHARED" }), most >= 1 && scope.reveals, told)
      assert.strictEqual(await may("secret_set", { key: "SHARED", value: word() }), most >= 2, told)
      assert.isFalse(await may("secret_list", { env: "staging" }), told)
      assert.isFalse(await may("project_create", { name: "another" }), told)
      assert.isFalse(await may("audit_list"), told)
    }
  })
})

describe("the tool server", () => {
  it("takes no session of a person, and says what to do", async () => {
    const { person } = await scene()
    const refused = await post(person.headers)
    assert.strictEqual(refused.status, 401)
    assert.match(refused.body.error.message, /make a delegation with coffer delegate$/)
    const cookie = await post({ cookie: "coffer=svc_st_x" })
    assert.strictEqual(cookie.status, 401)
    assert.match(cookie.body.error.message, /a person's session is not taken here/)
    const none = await post({})
    assert.strictEqual(none.status, 401)
    assert.match(none.body.error.message, /needs Authorization: Bearer with a delegation/)
    assert.strictEqual((await post(people(`svc_dt_${"a".repeat(49)}`))).status, 401)
  })

  it("refuses a delegation that has ended, at once", async () => {
    const { delegated, person } = await scene()
    const { id, token } = await delegated()
    assert.strictEqual((await post(people(token))).status, 200)
    await pair.first.do(person.headers, "DELETE", `/api/auth/delegations/${id}`)
    assert.strictEqual((await post(people(token))).status, 401)
  })

  it("takes POST alone", async () => {
    const { delegate } = await scene()
    const headers = people(await delegate())
    for (const method of ["GET", "DELETE", "PUT"]) {
      const { body, status } = await pair.second.send({ method, path: "/mcp", headers })
      assert.strictEqual(status, 405, method)
      assert.strictEqual(body.error.code, "METHOD_NOT_ALLOWED")
    }
  })

  it("answers web pages of the named origins alone", async () => {
    const { delegate } = await scene()
    const headers = people(await delegate())
    assert.strictEqual((await post({ ...headers, origin })).status, 200)
    for (const foreign of ["https://evil.example.com", "null", "http://127.0.0.1:1"]) {
      const { status, text } = await post({ ...headers, origin: foreign })
      assert.strictEqual(status, 403, foreign)
      assert.match(text, /SERVICE_MCP_ORIGINS/)
    }
  })

  it("takes one message at a time, and no settings that it does not know", async () => {
    const { delegate } = await scene()
    const headers = people(await delegate())
    const list = await post(headers, [initialize, initialize])
    assert.strictEqual(list.status, 400)
    assert.match(list.text, /send one message of the protocol/)
    assert.strictEqual((await post(headers, initialize, "/mcp?colour=red")).status, 400)
    const unknown = await post(headers, initialize, "/mcp?read_only=yes")
    assert.strictEqual(unknown.status, 400)
    assert.strictEqual(unknown.body.error.message, "read_only must be 0 or 1")
    assert.match((await post(headers, initialize, "/mcp?tools=secret_burn")).text, /there is no tool secret_burn/)
  })

  it("records how the host's program names itself, bounded and without invisible characters", async () => {
    const { delegate, org } = await scene()
    const agent = await agents["version 2"]([pair.second], await delegate())
    await agent.call("secret_set", { key: "NAMED", value: "x" })
    const { data } = await pair.first.asRoot("GET", `${org}/audit-logs?action=secret.set&key=NAMED`)
    assert.strictEqual(data[0].metadata.program, "claude\ufffdcode 2.1.0")
  })

  it("fails calls of one environment independently of those at the same time", async () => {
    const { delegate } = await scene()
    const agent = await agents["version 2"]([pair.first, pair.second], await delegate())
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        agent.call("secret_set", { key: n % 3 === 0 ? "not a key" : `K${n}`, value: "x" })
      )
    )
    assert.deepStrictEqual(
      results.map(({ isError }) => isError),
      Array.from({ length: 30 }, (_, n) => n % 3 === 0)
    )
  })
})
