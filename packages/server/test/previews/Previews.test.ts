import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Stage } from "../authorization/Scene.js"
import { machines } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { asking, startWorld, type World } from "../requests/World.js"
import { endEnvironment, inDays } from "./Support.js"

// The callers who may create, extend and remove environments that end, when a project allows previews and when it does not.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

type Headers = Readonly<Record<string, string>>

/** An organization with an environment `preview` to copy from, and callers with rules of their own. */
const scene = async (terms: object | null = {}) => {
  const made = await world.organization()
  const { owner, project } = made
  const envs = `${project}/envs`
  const ok = async (method: string, path: string, body?: unknown, headers: Headers = owner.headers): Promise<Json> => {
    const answer = await world.call(headers, method, path, body)
    assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  await ok("POST", envs, { name: "preview" })
  await ok("PATCH", `${envs}/preview/bundle`, { set: { A: "one", B: "two" }, references: { REFERS: "${A}" } })
  if (terms !== null) await ok("PUT", `${project}/previews`, { from: "preview", pattern: "pr-*", ...terms })

  /** An account with rules: a permission on a pattern of environments each. */
  const account = async (rules: Readonly<Record<string, string>>, more: object = {}) => {
    const { api_key, id: subject_id } = await ok("POST", `${made.org}/service-accounts`, {
      name: `bot ${Math.random().toString(36).slice(2)}`,
      ...more
    })
    for (const [env_pattern, permission] of Object.entries(rules)) {
      await ok("POST", `${made.org}/acl`, {
        subject_type: "service_account",
        subject_id,
        project_pattern: "webshop",
        env_pattern,
        permission
      })
    }
    return machines(api_key)
  }
  const said = async (headers: Headers, method: string, path: string, body?: unknown, server: Stage = world.first) => {
    const answer = await world.call(headers, method, path, body, server)
    return `${answer.status} ${answer.body?.error?.message ?? ""}`.trim()
  }
  const create = (headers: Headers, name: string, body: object = {}, server: Stage = world.first) =>
    said(headers, "POST", envs, { name, from: "preview", expires_at: inDays(7), ...body }, server)
  const extend = (headers: Headers, name: string, expires_at: string | null) =>
    said(headers, "PATCH", `${envs}/${name}`, { expires_at })
  const remove = (headers: Headers, name: string) => said(headers, "DELETE", `${envs}/${name}`)
  const names = async (): Promise<ReadonlyArray<string>> =>
    (await ok("GET", envs)).data.map(({ name }: Json) => name).filter((name: string) => name.startsWith("pr-"))
  return { ...made, envs, name: made.org.slice("/api/orgs/".length), ok, said, account, create, extend, remove, names }
}

const needsAdmin = /^403 this needs the role admin in organization [a-z0-9-]+, and a service account never has a role$/

describe("a project that allows no previews", () => {
  it("lets nobody but admins create, extend and remove environments, with the answers of before", async () => {
    const { account, create, dev, envs, extend, ok, remove } = await scene(null)
    const bot = await account({ "*": "admin" })
    await ok("POST", envs, { name: "pr-1", from: "preview", expires_at: inDays(7) })
    for (const body of [{}, { from: undefined, expires_at: undefined }]) {
      assert.match(await create(bot, "pr-2", body), needsAdmin)
      assert.match(
        await create(dev.headers, "pr-2", body),
        /^403 this needs the role admin in organization [a-z0-9-]+$/
      )
    }
    assert.match(await extend(bot, "pr-1", inDays(8)), needsAdmin)
    assert.match(await remove(bot, "pr-1"), needsAdmin)
  })
})

describe("a project that allows previews", () => {
  it("lets those who write on a name do what the terms say, and nothing else", async () => {
    const of = await scene({ max: 3, longest: "1w" })
    const { account, create, dev, envs, extend, guest, ok, org, remove } = of
    const rules = { "pr-*": "write", preview: "read" }
    const bot = await account(rules)
    const blind = await account(rules, { reveal: false })
    const reading = await account({ "*": "read" })
    const sourceless = await account({ "pr-*": "write" })
    const narrow = await account({ "pr-1": "write", preview: "read" })
    const table: ReadonlyArray<readonly [string, Headers, string, object, RegExp]> = [
      ["an account", bot, "pr-1", {}, /^201$/],
      ["an account that is given no values", blind, "pr-2", {}, /^201$/],
      ["a developer", dev.headers, "pr-3", { keys: ["A"] }, /^201$/],
      ["more than may be", bot, "pr-4", {}, /^409 project webshop has 3 previews/],
      ["an admin, whom the terms do not bind", of.admin.headers, "pr-4", { expires_at: inDays(90) }, /^201$/],
      ["the same name", narrow, "pr-1", {}, /^409 .*has 3 previews/],
      ["another name", bot, "qa-1", {}, /^403 .*the role admin.*are named pr-\*$/],
      [
        "a name of no rule",
        narrow,
        "pr-9",
        {},
        /^403 this needs a rule with permission write for environment webshop\/pr-9/
      ],
      ["no source", bot, "pr-9", { from: undefined }, /^403 .*is a copy of preview$/],
      ["another source", dev.headers, "pr-9", { from: "prod" }, /^403 .*is a copy of preview$/],
      ["no end", bot, "pr-9", { expires_at: undefined }, /^403 a preview of project webshop ends at most 7d from now$/],
      [
        "a late end",
        bot,
        "pr-9",
        { expires_at: inDays(8) },
        /^403 a preview of project webshop ends at most 7d from now$/
      ],
      ["an end that has passed", bot, "pr-9", { expires_at: inDays(-1) }, /^400 expires_at: must be in the future/],
      ["who only reads", reading, "pr-9", {}, /^403 this needs the role admin/],
      [
        "who may not read the source",
        sourceless,
        "pr-9",
        {},
        /^403 this needs a rule with permission read for .*preview/
      ],
      ["a member without rules", guest.headers, "pr-9", {}, /^403 this needs the role admin/]
    ]
    for (const [who, headers, name, body, expected] of table)
      assert.match(await create(headers, name, body), expected, who)

    // Nothing of a value is shown to an account that is given none, and everything was copied.
    assert.strictEqual((await world.call(blind, "GET", `${envs}/pr-2/secrets/A`)).status, 403)
    const listed = await ok("GET", `${envs}/pr-2/secrets`)
    assert.deepStrictEqual(
      listed.data.map(({ key }: Json) => key),
      ["A", "B", "REFERS"]
    )
    assert.strictEqual((await ok("GET", `${envs}/pr-2/secrets/REFERS?raw=1`)).kind, "reference")
    assert.strictEqual((await ok("GET", `${envs}/pr-2/secrets/REFERS`)).value, "one")
    assert.deepStrictEqual(
      (await ok("GET", `${envs}/pr-3/secrets`)).data.map(({ key }: Json) => key),
      ["A"]
    )

    const lasting = await ok("POST", envs, { name: "pr-last", from: "preview" })
    const empty = await ok("POST", envs, { name: "pr-empty", expires_at: inDays(1) })
    assert.notProperty(lasting, "expires_at")
    assert.property(empty, "expires_at")
    const changes: ReadonlyArray<readonly [string, () => Promise<string>, RegExp]> = [
      ["a later end", () => extend(bot, "pr-2", inDays(6.9)), /^200$/],
      ["an earlier one", () => extend(bot, "pr-2", inDays(1)), /^200$/],
      [
        "a late one",
        () => extend(bot, "pr-2", inDays(8)),
        /^403 a preview of project webshop ends at most 7d from now$/
      ],
      ["none", () => extend(bot, "pr-2", null), /^403 a preview of project webshop ends at most 7d from now$/],
      ["another's name", () => extend(narrow, "pr-2", inDays(2)), /^403 this needs a rule with permission write/],
      ["one that lasts", () => extend(bot, "pr-last", inDays(2)), /^403 .*pr-last is no preview/],
      ["one of another source", () => remove(bot, "pr-empty"), /^403 .*pr-empty is no preview/],
      ["one that lasts, removed", () => remove(bot, "pr-last"), /^403 .*pr-last is no preview/],
      ["the source", () => remove(dev.headers, "preview"), /^403 .*are named pr-\*$/],
      ["one that is not there", () => remove(bot, "pr-404"), /^404 /],
      ["a preview", () => remove(bot, "pr-2"), /^204$/],
      ["an admin makes one last", () => extend(of.admin.headers, "pr-1", null), /^200$/],
      ["and then it is none", () => remove(bot, "pr-1"), /^403 .*pr-1 is no preview/]
    ]
    for (const [what, change, expected] of changes) assert.match(await change(), expected, what)

    const log = await world.logOf(of)
    const entries = log.filter(({ action }) => /^(env|previews)\./.test(action))
    const created = entries.find(({ action, metadata }) => action === "env.create" && metadata.name === "pr-1")
    assert.deepStrictEqual(
      [created.metadata.from, Date.parse(created.metadata.expires_at) > Date.now()],
      ["preview", true]
    )
    assert.isTrue(entries.some(({ action, metadata }) => action === "env.extend" && metadata.before !== undefined))

    // Without the source, and after the end of the terms, there are no previews.
    await ok("DELETE", `${of.project}/previews`)
    assert.match(await create(bot, "pr-9"), needsAdmin)
    assert.match(await remove(dev.headers, "pr-3"), /^403 this needs the role admin/)
    await ok("PUT", `${of.project}/previews`, { from: "preview", pattern: "pr-*" })
    assert.deepInclude(await ok("GET", `${of.project}/previews`, undefined, guest.headers), { max: 20, longest: "30d" })
    await ok("DELETE", `${envs}/preview?force=1`)
    assert.match(await create(bot, "pr-9"), needsAdmin)
    assert.strictEqual((await world.call(of.owner.headers, "GET", `${of.project}/previews`)).status, 404)
    assert.strictEqual((await world.call(of.dev.headers, "DELETE", `${of.project}/previews`)).status, 403)
    assert.isAbove(org.length, 0)
  })

  it("copies much before its transaction, and as it is in it", async () => {
    const { account, create, envs, ok } = await scene()
    const bot = await account({ "pr-*": "write", preview: "read" }, { reveal: false })
    const set = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`K_${index}`, `value ${index}`]))
    await ok("PATCH", `${envs}/preview/bundle`, { set })
    assert.strictEqual(await create(bot, "pr-1"), "201")
    const { data, revision } = await ok("GET", `${envs}/pr-1/bundle?format=list`).catch(() =>
      ok("GET", `${envs}/pr-1/bundle`)
    )
    assert.strictEqual(data.length, 123)
    assert.isTrue(data.every(({ key, value }: Json) => !key.startsWith("K_") || value === `value ${key.slice(2)}`))
    assert.include([undefined, 1], revision)
    const both = await Promise.all([
      create(bot, "pr-2", {}, world.second),
      ok("PATCH", `${envs}/preview/bundle`, { set: { K_0: "changed", K_1: "changed" } })
    ])
    assert.strictEqual(both[0], "201")
    const copied = (await ok("GET", `${envs}/pr-2/bundle?keys=K_0,K_1`)).data.map(({ value }: Json) => value)
    assert.include(["value 0,value 1", "changed,changed"], copied.join())
  })
})

describe("at the same time,", () => {
  it("no more previews are created than may be, and one of each name", async () => {
    for (const round of [0, 1]) {
      const { account, create, names } = await scene({ max: 4 })
      const bot = await account({ "pr-*": "write", preview: "read" })
      const at = (index: number) => (index % 2 === 0 ? world.first : world.second)
      const same = await Promise.all(
        Array.from({ length: 4 }, (_, index) => create(bot, "pr-same", {}, at(index + round)))
      )
      assert.strictEqual(same.filter((answer) => answer === "201").length, 1, same.join())
      const all = await Promise.all(Array.from({ length: 8 }, (_, index) => create(bot, `pr-${index}`, {}, at(index))))
      assert.strictEqual(all.filter((answer) => answer === "201").length, 3, all.join())
      assert.strictEqual((await names()).length, 4)
    }
  })

  it("an end and what would move it leave one of the two, and a name is taken once after it", async () => {
    for (let round = 0; round < 4; round++) {
      const { create, envs, extend, name, owner, said } = await scene()
      assert.strictEqual(await create(owner.headers, "pr-1"), "201")
      await endEnvironment(world.first, name, "pr-1", 15)
      const ended = await Promise.all([
        extend(owner.headers, "pr-1", inDays(2)),
        said(owner.headers, "PUT", `${envs}/pr-1/secrets/LATE`, { value: "late" }, world.second)
      ])
      const isExtended = ended[0] === "200"
      if (!isExtended) assert.match(ended[0], /^404 /)
      await new Promise((resolve) => setTimeout(resolve, 30))
      const after = await said(owner.headers, "GET", `${envs}/pr-1/secrets/A`)
      assert.match(after, isExtended ? /^200$/ : /^404 /)
      const again = await Promise.all([create(owner.headers, "pr-1"), create(owner.headers, "pr-1", {}, world.second)])
      assert.strictEqual(again.filter((answer) => answer === "201").length, isExtended ? 0 : 1, again.join())
    }
  })
})

describe("a protected environment", () => {
  it("gets an end by its votes alone, and no environment that ends can be protected", async () => {
    const { admin, create, dev, envs, extend, ok, org, other, owner, said } = await scene()
    assert.strictEqual(await create(owner.headers, "pr-1"), "201")
    const terms = { needed: 1, approvers: "admins" }
    assert.match(
      await said(owner.headers, "PUT", `${envs}/pr-1/protection`, terms),
      /^409 environment pr-1 ends at .*cannot be protected/
    )
    await extend(owner.headers, "pr-1", null)
    await ok("PUT", `${envs}/pr-1/protection`, terms)
    assert.match(await extend(admin.headers, "pr-1", inDays(2)), /^409 environment webshop\/pr-1 is protected/)
    const asked = await world.call({ ...admin.headers, ...asking }, "PATCH", `${envs}/pr-1`, { expires_at: inDays(2) })
    assert.strictEqual(asked.status, 202, JSON.stringify(asked.body))
    assert.isTrue(asked.body.details.some((detail: string) => detail.startsWith("expires_at: ")))
    const made = await ok("POST", `${org}/requests/${asked.body.id}/approve`, undefined, other.headers)
    assert.strictEqual(made.state, "done", JSON.stringify(made))
    // By its votes it ends now, but is no preview that who writes could move or remove.
    assert.match(await said(dev.headers, "DELETE", `${envs}/pr-1`), /^409 environment webshop\/pr-1 is protected/)
    assert.property(
      (await ok("GET", envs)).data.find(({ name }: Json) => name === "pr-1"),
      "expires_at"
    )
  })
})
