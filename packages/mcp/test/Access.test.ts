import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../../server/test/support/Program.js"
import { Agent, clearAway, TestHome } from "./support/Agent.js"
import { Service } from "./support/Service.js"

let service: Service

beforeAll(async () => {
  service = await Service.start()
  await service.request("PUT", "/api/orgs/acme/projects/shop/envs/dev/secrets/TOKEN", { value: "canary-1" })
})
afterAll(async () => {
  await clearAway()
  await service.stop()
})

const extra = { SERVICE_MCP_EXTRA: "1" }

describe("an account that lacks a permission", () => {
  it("sees what it may do, asks for more, and may do it once somebody has approved", async () => {
    const { key } = await service.account("agent", "use")
    const agent = await Agent.start(service.at(key, extra))
    const before = await agent.use("access_show")
    assert.strictEqual(before.as, "agent")
    assert.deepStrictEqual(before.allowed, ["use"])
    assert.strictEqual(before.because[0].by, "rule")
    assert.notProperty(before, "delegation")
    await agent.refused("secret_list", {}, "FORBIDDEN")

    const asked = await agent.use("access_request", { permission: "read", reason: "the migration needs TOKEN" })
    assert.include(asked, { state: "pending", permission: "read", expires_in: 3_600, needed: 1 })
    const waiting = await agent.use("requests", { state: "pending" })
    assert.deepStrictEqual(
      waiting.data.map(({ id }: Json) => id),
      [asked.id]
    )
    await service.post(`/api/orgs/acme/requests/${asked.id}/approve`, { comment: "for today" })
    const [decided] = (await agent.use("requests")).data
    assert.include(decided, { id: asked.id, state: "done" })
    assert.strictEqual(decided.votes[0].comment, "for today")
    assert.deepStrictEqual((await agent.use("access_show")).allowed, ["use", "read"])
    assert.strictEqual((await agent.use("secret_list")).data[0].key, "TOKEN")
  })

  it("is told what it cannot ask for, and what a request lacks", async () => {
    const { key } = await service.account("asks", "read")
    const agent = await Agent.start(service.at(key, extra))
    await agent.refused("access_request", { permission: "read", reason: "again" }, "CONFLICT")
    await agent.refused("access_request", { permission: "write" }, "VALIDATION_ERROR")
    await agent.refused("access_request", { permission: "all", reason: "why" }, "VALIDATION_ERROR")
    await agent.refused("access_request", { permission: "write", reason: "why", expires_in: 5 }, "VALIDATION_ERROR")
  })

  it("lists only its own requests, also where it may see those of others", async () => {
    const [one, manager] = [await service.account("one", "use"), await service.account("manager", "admin")]
    const agent = await Agent.start(service.at(one.key, extra))
    await agent.use("access_request", { permission: "read", reason: "INC-12" })
    const other = await Agent.start(service.at(manager.key, extra))
    assert.deepStrictEqual((await other.use("requests")).data, [])
  })
})

describe("a delegation", () => {
  it("shows its scope and end", async () => {
    const scope = { org: "acme", project: "shop", env: "dev", permission: "read", keys: ["TOKEN"] }
    const made = await service.post("/api/auth/delegations", { name: "claude", expires_in: 3_600, ...scope })
    const home = new TestHome().delegation(service.url, { ...scope, ...made })
    const { SERVICE_API_KEY: _, ...variables } = service.at("", extra)
    const agent = await Agent.start(variables, home)
    const shown = await agent.use("access_show")
    assert.strictEqual(shown.as, "ada@example.com")
    assert.deepStrictEqual(shown.allowed, ["use", "read"])
    assert.strictEqual(shown.delegation.name, "claude")
    assert.deepStrictEqual(shown.delegation.keys, ["TOKEN"])
    assert.notInclude(agent.out, made.token)
  })
})
