import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../../server/test/support/Program.js"
import { Agent, clearAway, TestHome } from "./support/Agent.js"
import { Service } from "./support/Service.js"
import { tokensIn } from "./support/Tokens.js"

const page = readFileSync(join(import.meta.dirname, "../../../docs/mcp-tools.md"), "utf8")

let service: Service
let agent: Agent

const kinds = ["DATABASE_URL", "STRIPE_API_KEY", "REDIS_PASSWORD", "JWT_SIGNING_SECRET", "SMTP_HOST"]
const keys = Array.from({ length: 500 }, (_, index) => `${kinds[index % kinds.length] ?? ""}_${index}`)

beforeAll(async () => {
  service = await Service.start()
  agent = await Agent.start(service.at(""), new TestHome().session(service.url, service.owner))
  const set = Object.fromEntries(keys.map((key) => [key, "x"]))
  await service.request("PATCH", "/api/orgs/acme/projects/shop/envs/dev/bundle", { set })
  for (const name of ["apple", "banana", "blueberry"]) await service.post("/api/orgs/acme/projects", { name })
})
afterAll(async () => {
  await clearAway()
  await service.stop()
})

const pagesOf = async (tool: string, parameters: Record<string, unknown>) => {
  const pages: Array<Json> = []
  let after: string | null | undefined
  while (after !== null) {
    const page: Json = await agent.use(tool, { ...parameters, ...(after !== undefined && { after }) })
    pages.push(page)
    after = page.next_cursor
  }
  return pages
}

describe("a long list", () => {
  it("comes in pages, sorted, each entry once, and each page says how many there are", async () => {
    for (const limit of [undefined, 7, 250, 500]) {
      const pages = await pagesOf("secret_list", limit === undefined ? {} : { limit })
      assert.deepStrictEqual(
        pages.flatMap(({ data }) => data.map(({ key }: Json) => key)),
        [...keys].sort()
      )
      for (const { data, total } of pages) {
        assert.isAtMost(data.length, limit ?? 60)
        assert.strictEqual(total, 500)
      }
    }
  })

  it("by default costs an agent about 2,000 tokens", async () => {
    const { text } = await agent.call("secret_list")
    assert.isAtMost(tokensIn(text), 2_200)
    const { text: log } = await agent.call("audit_list")
    assert.isAtMost(tokensIn(log), 2_200)
  })

  it("is filtered by a prefix, before it is cut", async () => {
    const page = await agent.use("secret_list", { prefix: "SMTP_", limit: 3 })
    assert.deepStrictEqual(
      page.data.map(({ key }: Json) => key),
      ["SMTP_HOST_104", "SMTP_HOST_109", "SMTP_HOST_114"]
    )
    assert.deepInclude(page, { total: 100, next_cursor: "SMTP_HOST_114" })
    assert.deepStrictEqual(await agent.use("secret_list", { prefix: "NONE" }), {
      data: [],
      total: 0,
      next_cursor: null
    })
  })

  it("goes on behind a name that was deleted meanwhile", async () => {
    const { next_cursor } = await agent.use("secret_list", { prefix: "REDIS_", limit: 2 })
    const { data: before } = await agent.use("secret_list", { prefix: "REDIS_", limit: 1, after: next_cursor })
    await agent.use("secret_delete", { key: next_cursor })
    const { data } = await agent.use("secret_list", { prefix: "REDIS_", limit: 1, after: next_cursor })
    assert.deepStrictEqual(data, before)
    await agent.use("secret_set", { key: next_cursor, value: "x" })
  })

  it("takes no limit beyond its bounds", async () => {
    for (const limit of [0, 501, "60", 1.5]) await agent.refused("secret_list", { limit }, "VALIDATION_ERROR")
  })
})

/** A figure of docs/mcp-tools.md. */
const documented = (pattern: RegExp) => Number(pattern.exec(page)?.[1]?.replaceAll(",", ""))

describe("the figures of docs/mcp-tools.md", () => {
  const assertAbout = (measured: number, figure: number) =>
    assert.isBelow(Math.abs(measured - figure) / measured, 0.05, `${measured} is documented as ${figure}`)

  it("are what the list of the tools costs, without and with the others", async () => {
    const large = await Agent.start({ SERVICE_MCP_EXTRA: "1" })
    const using = await Agent.start({ SERVICE_MCP_USE: "1" })
    for (const [one, pattern] of [
      [agent, /the 15 tools cost about ([\d,]+) tokens/],
      [large, /with the extra ones about ([\d,]+)/],
      [using, /with those that use secrets about ([\d,]+)/]
    ] as const) {
      const { tools } = await one.client.listTools()
      assertAbout(tokensIn(JSON.stringify(tools)), documented(pattern))
    }
  })

  it("are what an average result costs, in an environment of 20 secrets", async () => {
    const place = { project: "banana", env: "dev" }
    const set = Object.fromEntries(keys.slice(0, 20).map((key) => [key, "postgres://app@db.internal/shop"]))
    await service.request("PATCH", "/api/orgs/acme/projects/banana/envs/dev/bundle", { set })
    const calls: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
      ["secret_set", { ...place, key: "NEW_TOKEN", value: "x" }],
      ["secret_get", { ...place, key: "DATABASE_URL_0" }],
      ["secret_list", place],
      ["secret_delete", { ...place, key: "NEW_TOKEN" }],
      ["project_create", { name: "cherry" }],
      ["project_list", {}],
      ["project_delete", { name: "cherry" }],
      ["env_create", { ...place, name: "qa" }],
      ["env_list", place],
      ["env_delete", { ...place, name: "qa" }],
      ["org_list", {}],
      ["org_members_list", {}],
      ["acl_list", {}],
      ["audit_list", {}],
      ["health_check", {}]
    ]
    let total = 0
    for (const [name, parameters] of calls) {
      const { isError, text } = await agent.call(name, parameters)
      assert.isFalse(isError, text)
      total += tokensIn(text)
    }
    assertAbout(total / calls.length, documented(/An average result costs about ([\d,]+) tokens/))
  })
})

describe("the other lists", () => {
  it("are cut and filtered likewise", async () => {
    const [first, second] = await pagesOf("project_list", { prefix: "b", limit: 1 })
    assert.strictEqual(first.data[0].name, "banana")
    assert.deepInclude(first, { total: 2, next_cursor: "banana" })
    assert.strictEqual(second.data[0].name, "blueberry")
    assert.isNull(second.next_cursor)
    assert.strictEqual((await agent.use("env_list", { prefix: "st" })).data[0].name, "staging")
    assert.strictEqual((await agent.use("org_list", { prefix: "ac" })).total, 1)
    assert.strictEqual((await agent.use("org_members_list", { prefix: "ada@" })).total, 1)
  })

  it("show several rules of a subject, each once", async () => {
    const account = await service.account("many")
    for (const env_pattern of ["dev", "staging", "prod"]) {
      const rule = { project_pattern: "shop", env_pattern, permission: "read" }
      await service.post("/api/orgs/acme/acl", { ...rule, subject_type: "service_account", subject_id: account.id })
    }
    const pages = await pagesOf("acl_list", { prefix: "many", limit: 2 })
    const rules = pages.flatMap(({ data }) => data)
    assert.sameMembers(
      rules.map(({ env_pattern }: Json) => env_pattern),
      ["dev", "staging", "prod"]
    )
    assert.deepStrictEqual(rules[0].name, "many")
  })
})
