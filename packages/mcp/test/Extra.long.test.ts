import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../../server/test/support/Program.js"
import { Agent, clearAway } from "./support/Agent.js"
import { Service } from "./support/Service.js"

const extra = [
  "secret_compare",
  "secret_versions",
  "secret_rollback",
  "secret_copy",
  "secret_generate",
  "secret_check",
  "secret_find",
  "access_show",
  "access_request",
  "requests"
]
const reading = ["secret_compare", "secret_versions", "secret_check", "secret_find", "access_show", "requests"]
/** It only adds. */
const adding = ["access_request"]

let service: Service
let key: string
let agent: Agent

const valueOf = async (env: string, name: string) =>
  (await service.request("GET", `/api/orgs/acme/projects/shop/envs/${env}/secrets/${name}`)).value

beforeAll(async () => {
  service = await Service.start()
  key = (await service.account("agent", "admin")).key
  agent = await Agent.start(service.at(key, { SERVICE_MCP_EXTRA: "1" }))
  for (const [env, set] of [
    ["dev", { SAME: "canary-1", OTHER: "canary-2", HERE: "canary-3" }],
    ["prod", { SAME: "canary-1", OTHER: "canary-4", THERE: "canary-5" }]
  ] as const) {
    await service.request("PATCH", `/api/orgs/acme/projects/shop/envs/${env}/bundle`, { set })
  }
})
afterAll(async () => {
  assert.notInclude(agent.out + agent.log, "canary")
  await clearAway()
  await service.stop()
})

describe("the extra tools", () => {
  it("follow the fifteen with SERVICE_MCP_EXTRA=1, with all four hints, and are not there without", async () => {
    const { tools } = await agent.client.listTools()
    assert.deepStrictEqual(
      tools.slice(15).map(({ name }) => name),
      extra
    )
    for (const { annotations, description, name, title } of tools.slice(15)) {
      assert.match(title ?? "", /^[A-Z]/, name)
      assert.match(description ?? "", /[Rr]eturns [^]*Use it/, name)
      assert.strictEqual(annotations?.readOnlyHint, reading.includes(name), name)
      assert.strictEqual(annotations?.destructiveHint, ![...reading, ...adding].includes(name), name)
      assert.isBoolean(annotations?.idempotentHint, name)
      assert.isFalse(annotations?.openWorldHint, name)
    }
    const plain = await Agent.start(service.at(key))
    assert.lengthOf((await plain.client.listTools()).tools, 15)
    for (const name of extra) assert.strictEqual((await plain.unknown(name)).code, -32602)
  })

  it("that change something are withheld with SERVICE_MCP_READ_ONLY=1", async () => {
    const restrained = await Agent.start(service.at(key, { SERVICE_MCP_EXTRA: "1", SERVICE_MCP_READ_ONLY: "1" }))
    const { tools } = await restrained.client.listTools()
    assert.deepStrictEqual(
      tools.map(({ name }) => name).filter((name) => extra.includes(name)),
      reading
    )
    for (const name of extra) if (!reading.includes(name)) await restrained.refused(name, {}, "READ_ONLY")
  })

  it("name no other environment with SERVICE_MCP_PIN=1, also as the one to copy or compare", async () => {
    const pinned = await Agent.start(service.at(key, { SERVICE_MCP_EXTRA: "1", SERVICE_MCP_PIN: "1" }))
    await pinned.refused("secret_compare", { with: "prod" }, "PINNED")
    await pinned.refused("secret_copy", { from: "prod" }, "PINNED")
    await pinned.refused("secret_find", { query: "SAME" }, "PINNED")
    await pinned.refused("requests", {}, "PINNED")
    for (const name of ["secret_versions", "secret_rollback", "secret_generate"]) {
      const parameters = { key: "SAME", ...(name === "secret_rollback" && { version: 1 }) }
      await pinned.refused(name, { ...parameters, env: "prod" }, "PINNED")
    }
    await pinned.use("secret_versions", { key: "SAME" })
  })
})

describe("secret_check", () => {
  it("names what is missing, not declared and against its pattern, and no value", async () => {
    const declared = "/api/orgs/acme/projects/shop/declared"
    await service.request("PUT", `${declared}/SAME`, { pattern: "[0-9]+" })
    await service.request("PUT", `${declared}/NEEDED`, { required_in: ["dev"] })
    const found = { declared: 2, missing: ["NEEDED"], extra: ["HERE", "OTHER"], breaks: ["SAME"], left_out: 0 }
    assert.deepStrictEqual(await agent.use("secret_check"), found)
    for (const name of ["SAME", "NEEDED"]) await service.request("DELETE", `${declared}/${name}`)
  })
})

describe("secret_find", () => {
  it("finds a key in every environment that the agent may list, page by page", async () => {
    const placesIn = ({ data }: Json) => data.map(({ env, key, project }: Json) => `${project}/${env}/${key}`)
    const first = await agent.use("secret_find", { query: "am", limit: 1 })
    assert.deepStrictEqual(placesIn(first), ["shop/dev/SAME"])
    const second = await agent.use("secret_find", { query: "am", limit: 1, after: first.pagination.next_cursor })
    assert.deepStrictEqual(placesIn(second), ["shop/prod/SAME"])
    assert.isFalse(second.pagination.has_next)
    assert.deepStrictEqual((await agent.use("secret_find", { query: "NOWHERE" })).data, [])
  })
})

describe("secret_compare", () => {
  it("names the keys that differ, and counts the others", async () => {
    assert.deepStrictEqual(await agent.use("secret_compare", { with: "prod" }), {
      data: [
        { key: "HERE", status: "only_here" },
        { key: "OTHER", status: "different" },
        { key: "THERE", status: "only_there" }
      ],
      total: 3,
      next_cursor: null,
      same: 1
    })
    const page = await agent.use("secret_compare", { with: "prod", limit: 1, after: "HERE" })
    assert.deepStrictEqual(page, {
      data: [{ key: "OTHER", status: "different" }],
      total: 3,
      next_cursor: "OTHER",
      same: 1
    })
  })
})

describe("secret_versions and secret_rollback", () => {
  it("list the versions, page by page, and bring an earlier value back", async () => {
    for (const value of ["canary-a", "canary-b", "canary-c"]) await agent.use("secret_set", { key: "TURNED", value })
    const first = await agent.use("secret_versions", { key: "TURNED", limit: 2 })
    assert.deepStrictEqual(
      first.data.map(({ current, version }: Json) => [version, current]),
      [
        [3, true],
        [2, false]
      ]
    )
    assert.strictEqual(first.data[0].created_by, "agent")
    const second = await agent.use("secret_versions", { key: "TURNED", limit: 2, before: first.next_before })
    assert.deepStrictEqual([second.data.length, second.next_before], [1, null])

    await agent.refused("secret_rollback", { key: "TURNED", version: 1, expected_version: 2 }, "CONFLICT")
    assert.strictEqual((await agent.use("secret_rollback", { key: "TURNED", version: 1 })).version, 4)
    assert.strictEqual(await valueOf("dev", "TURNED"), "canary-a")
    await agent.refused("secret_rollback", { key: "TURNED", version: 9 }, "NOT_FOUND")
  })
})

describe("secret_copy", () => {
  it("copies the keys that it is given, or says what it would do", async () => {
    const parameters = { env: "staging", from: "prod", keys: ["OTHER", "THERE"] }
    const planned = await agent.use("secret_copy", { ...parameters, dry_run: true })
    assert.deepInclude(planned, { created: 2, updated: 0, unchanged: 0, left_out: 0 })
    assert.deepInclude(await agent.use("secret_list", { env: "staging" }), { total: 0 })
    assert.deepEqual(await agent.use("secret_copy", parameters), planned)
    assert.strictEqual(await valueOf("staging", "THERE"), "canary-5")
    const all = await agent.use("secret_copy", { env: "staging", from: "prod" })
    assert.deepInclude(all, { created: 1, updated: 0, unchanged: 2 })
    assert.deepStrictEqual(
      all.data.map(({ key }: Json) => key),
      ["SAME"]
    )
  })

  it("shows the first 60 changes, and says how many it left out", async () => {
    const set = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`K${index}`, "x"]))
    await service.post("/api/orgs/acme/projects/shop/envs", { name: "large" })
    await service.request("PATCH", "/api/orgs/acme/projects/shop/envs/large/bundle", { set })
    await service.post("/api/orgs/acme/projects/shop/envs", { name: "empty" })
    const copied = await agent.use("secret_copy", { env: "empty", from: "large" })
    assert.deepInclude(copied, { created: 100, left_out: 40 })
    assert.lengthOf(copied.data, 60)
  })
})

describe("secret_generate", () => {
  it("stores a random value of the length and the characters, and does not show it", async () => {
    const sets: ReadonlyArray<readonly [Record<string, unknown>, RegExp]> = [
      [{}, /^[0-9A-Za-z]{32}$/],
      [{ length: 64, charset: "hex" }, /^[0-9a-f]{64}$/],
      [{ length: 8, charset: "digits" }, /^[0-9]{8}$/],
      [{ length: 1024, charset: "symbols" }, /^[^\s"'`$\\]{1024}$/]
    ]
    for (const [parameters, form] of sets) {
      const written = await agent.use("secret_generate", { key: "MADE", ...parameters })
      assert.sameMembers(Object.keys(written), ["key", "version", "created_at", "updated_at"])
      const value = await valueOf("dev", "MADE")
      assert.match(value, form)
      assert.notInclude(agent.out, value)
    }
    await agent.refused("secret_generate", { key: "MADE", expected_version: 0 }, "CONFLICT")
  })

  it("makes another value each time", async () => {
    const values = new Set<string>()
    for (let round = 0; round < 5; round++) {
      await agent.use("secret_generate", { key: "AGAIN" })
      values.add(await valueOf("dev", "AGAIN"))
    }
    assert.strictEqual(values.size, 5)
  })

  it("names the bounds of its parameters", async () => {
    const text = await agent.refused(
      "secret_generate",
      { key: "MADE", length: 7, charset: "runes" },
      "VALIDATION_ERROR"
    )
    assert.include(text, "must be a whole number from 8 to 1024")
    assert.include(text, "must be one of alphanumeric, hex, digits, symbols")
  })
})
