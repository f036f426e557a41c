import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Agent, clearAway, TestHome } from "./support/Agent.js"
import { Listener, Service } from "./support/Service.js"

const canaries: Array<string> = []

/** A value that is nowhere else. */
const canary = () => {
  const value = `canary-${randomBytes(12).toString("hex")}`
  canaries.push(value)
  return value
}

const assertSilent = (agent: Agent) => {
  const said = agent.out + agent.log
  for (const value of canaries) {
    assert.notInclude(said, value)
    assert.notInclude(said, Buffer.from(value).toString("base64").slice(0, -4))
  }
  agent.assertProtocol()
}

let service: Service
let key: string

beforeAll(async () => {
  service = await Service.start()
  key = (await service.account("agent", "admin")).key
  for (const env of ["dev", "prod"]) {
    for (const name of ["A", "B", "C"]) {
      await service.request("PUT", `/api/orgs/acme/projects/shop/envs/${env}/secrets/${name}`, { value: canary() })
    }
  }
})
afterAll(async () => {
  await clearAway()
  await service.stop()
})

type Call = readonly [name: string, parameters: Record<string, unknown>]

/** Every tool but `secret_get`, in every way that there is to succeed and to fail. */
const calls = (): ReadonlyArray<Call> => [
  ["secret_set", { key: "A", value: canary() }],
  ["secret_set", { key: "NEW", value: canary() }],
  ["secret_set", { key: "A", value: canary(), expected_version: 0 }],
  ["secret_set", { key: "A", value: canary(), expected_version: canary() }],
  ["secret_set", { key: "not a key", value: canary() }],
  ["secret_set", { key: "A", value: `${canary()}${"x".repeat(70_000)}` }],
  ["secret_set", { key: "A", value: `${canary()}\ud800` }],
  ["secret_set", { key: "A", value: [canary()] }],
  ["secret_set", { key: "A", value: { value: canary() } }],
  ["secret_set", { key: { key: canary() }, value: canary() }],
  ["secret_set", { key: "A", valeu: canary() }],
  ["secret_set", { key: "A", value: canary(), [canary()]: canary() }],
  ["secret_set", { value: canary() }],
  ["secret_set", { key: "A", value: canary(), org: canary().toUpperCase(), project: [canary()] }],
  ["secret_set", { key: "A", value: canary(), org: "elsewhere" }],
  ["secret_set", { key: "A", value: canary(), env: "elsewhere" }],
  ["secret_list", {}],
  ["secret_list", { env: "prod" }],
  ["secret_list", { env: "elsewhere" }],
  ["secret_list", { value: canary() }],
  ["secret_delete", { key: "B" }],
  ["secret_delete", { key: "B" }],
  ["secret_delete", { key: "C", value: canary() }],
  ["project_create", { name: "canaries" }],
  ["project_create", { name: "canaries" }],
  ["project_create", { name: `${canary()} X` }],
  ["project_list", {}],
  ["project_list", { org: "elsewhere" }],
  ["project_delete", { name: "canaries" }],
  ["project_delete", { name: "canaries" }],
  ["env_create", { name: "canary" }],
  ["env_create", { name: "canary", extra: canary() }],
  ["env_list", {}],
  ["env_list", { project: "elsewhere" }],
  ["env_delete", { name: "canary" }],
  ["env_delete", { name: "canary" }],
  ["org_list", {}],
  ["org_list", { nonsense: canary() }],
  ["org_members_list", {}],
  ["org_members_list", { org: "elsewhere" }],
  ["acl_list", {}],
  ["acl_list", { org: "elsewhere" }],
  ["audit_list", { limit: 100 }],
  ["audit_list", { after: canary() }],
  ["audit_list", { limit: canary() }],
  ["audit_list", { org: "elsewhere" }],
  ["health_check", {}],
  ["health_check", { verbose: canary() }]
]

const callAll = async (agent: Agent) => {
  const outcomes = new Map<string, Set<boolean>>()
  for (const [name, parameters] of calls()) {
    const { isError } = await agent.call(name, parameters)
    outcomes.set(name, (outcomes.get(name) ?? new Set()).add(isError))
  }
  await agent.unknown("no_such_tool", { value: canary() })
  return outcomes
}

describe("no value is in any byte that comes out", () => {
  it("of a person's calls, whether they succeed or fail", async () => {
    const agent = await Agent.start(service.at(""), new TestHome().session(service.url, service.owner))
    canaries.push(service.owner)
    const outcomes = await callAll(agent)
    for (const [name, seen] of outcomes) {
      assert.isTrue(seen.has(false), `${name} never succeeded`)
      assert.isTrue(seen.has(true), `${name} never failed`)
    }
    assertSilent(agent)
  })

  it("of a service account's calls, restrained or not", async () => {
    canaries.push(key)
    for (const more of [{}, { SERVICE_MCP_READ_ONLY: "1" }, { SERVICE_MCP_PIN: "1", SERVICE_MCP_REVEAL: "0" }]) {
      const agent = await Agent.start(service.at(key, more))
      await callAll(agent)
      if ("SERVICE_MCP_REVEAL" in more) await agent.use("secret_get", { key: "A" })
      assertSilent(agent)
    }
  })

  it("of calls to a server that cannot be reached, breaks off, or answers something else with the value in it", async () => {
    const echo = await Listener.start((request, response) => {
      let body = ""
      request.on("data", (chunk: Buffer) => (body += chunk.toString()))
      request.on("end", () => {
        if (request.url?.includes("projects/shop/envs/dev") === true) return void request.socket.destroy()
        response.writeHead(200, { "content-type": "application/json" }).end(`{"echo":${JSON.stringify(body)}}`)
      })
    })
    const gone = await Listener.nowhere()
    for (const url of [gone, echo.url]) {
      const agent = await Agent.start({ ...service.at(key), SERVICE_SERVER_URL: url })
      // One of each is enough: a read is tried again when nobody answers.
      await Promise.all(calls().map(([name, parameters]) => agent.call(name, parameters)))
      assertSilent(agent)
    }
    await echo.stop()
  })

  it("of calls without a place and without a credential", async () => {
    const agent = await Agent.start()
    await Promise.all(calls().map(([name, parameters]) => agent.call(name, parameters)))
    assertSilent(agent)
  })
})
