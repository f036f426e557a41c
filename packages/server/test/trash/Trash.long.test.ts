import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { orgScope } from "@coffer/server/database/Scopes"
import { OrgId } from "@coffer/domain/base/Ids"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { useRuleBody, webhookBody } from "../authorization/Contract.js"
import { people, word } from "../authorization/Service.js"
import { asking, startWorld, type World } from "../requests/World.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"

// Removal and restoration, on either engine. On PostgreSQL, two requests at once go to two servers.

let world: World
beforeAll(async () => {
  world = await startWorld({ SERVICE_ORG_CREATION: "anyone" })
})
afterAll(() => world.stop())

type One = Awaited<ReturnType<World["organization"]>>
type Headers = One["owner"]["headers"]

const codeOf = ({ body, status }: { readonly status: number; readonly body: Json }): string =>
  body?.error?.code ?? String(status)

/** A call that must succeed. */
const made = async (headers: Headers, method: string, path: string, body?: unknown): Promise<Json> => {
  const answer = await world.call(headers, method, path, body)
  assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

const removedIn = async (headers: Headers, trash: string): Promise<ReadonlyArray<Json>> =>
  (await made(headers, "GET", trash)).data

const nameOf = ({ org }: One) => org.slice("/api/orgs/".length)

/** Removes a place, and returns its row of the trash. */
const removed = async (headers: Headers, path: string, trash: string): Promise<Json> => {
  await made(headers, "DELETE", path)
  const [found] = await removedIn(headers, trash)
  assert.isDefined(found)
  return found
}

const envTrash = ({ project }: One) => `${project}/trash`
const orgTrash = ({ org }: One) => `${org}/trash`

/** Everything in an environment that people see, and what its parts work with. */
const pictureOf = async (one: One) => {
  const { owner, prod, project } = one
  const get = (path: string) => made(owner.headers, "GET", path)
  const {
    created_at: _created,
    updated_at: _updated,
    ...rest
  } = (await get(`${project}/envs`)).data.find(({ name }: Json) => name === "prod")
  return {
    environment: rest,
    bundle: (await get(`${prod}/bundle`)).data,
    versions: (await get(`${prod}/secrets/A/versions`)).data,
    removed: (await get(`${prod}/secrets?removed=1`)).data,
    revisions: (await get(`${prod}/revisions`)).data,
    dues: (await get(`${one.org}/secrets/due`)).data,
    uses: (await get(`${prod}/secrets/A/use-rules`)).data,
    declared: (await get(`${project}/declared`)).data,
    previews: await get(`${project}/previews`),
    rules: (await get(`${one.org}/acl`)).data.length,
    accounts: (await get(`${one.org}/service-accounts`)).data.map(({ id }: Json) => id),
    webhooks: (await get(`${one.org}/webhooks`)).data.map(({ id }: Json) => id)
  }
}

/** An organization with a bit of everything. */
const filled = async () => {
  const one = await world.organization()
  const { owner, prod, project } = one
  await made(owner.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
  await made(owner.headers, "PUT", `${prod}/secrets/GONE`, { value: "gone" })
  await made(owner.headers, "DELETE", `${prod}/secrets/GONE`)
  await made(owner.headers, "PATCH", `${prod}/secrets/A`, { owner: "ops@example.com", expires_at: "2027-12-31" })
  await made(owner.headers, "POST", `${one.org}/service-accounts`, { name: useRuleBody.accounts[0] })
  await made(owner.headers, "POST", `${prod}/secrets/A/use-rules`, useRuleBody)
  await made(owner.headers, "PUT", `${project}/declared/A`, { required_in: ["prod"] })
  await made(owner.headers, "PUT", `${project}/previews`, { from: "staging", pattern: "pr-*" })
  await made(owner.headers, "POST", `${one.org}/webhooks`, webhookBody)
  return one
}

describe("a removed environment, project or organization", () => {
  it("comes back as it was, with what is in it, under its name", async () => {
    const one = await filled()
    const { ci, org, owner, prod, project } = one
    const before = await pictureOf(one)
    const places = [
      [prod, envTrash(one)],
      [project, orgTrash(one)],
      [org, `/api/trash?name=${nameOf(one)}`]
    ] as const
    for (const [path, trash] of places) {
      const { id, name, removed_by, restorable_until } = await removed(owner.headers, path, trash)
      assert.strictEqual(name, path.split("/").at(-1))
      assert.strictEqual(removed_by, owner.email)
      const days = (Date.parse(restorable_until) - Date.now()) / 86_400_000
      assert.isTrue(days > 29.9 && days <= 30, restorable_until)
      assert.include(
        ["401", "UNAUTHORIZED", "NOT_FOUND"],
        codeOf(await world.call(ci.headers, "GET", `${prod}/bundle`))
      )
      assert.strictEqual(codeOf(await world.call(owner.headers, "GET", `${prod}/bundle`)), "NOT_FOUND")
      const [base = ""] = trash.split("?")
      const restored = await made(owner.headers, "POST", `${base}/${id}/restore`, {})
      assert.strictEqual(restored.name, name)
      assert.strictEqual(restored.id, id)
      assert.deepStrictEqual(await removedIn(owner.headers, trash), [])
      assert.deepStrictEqual(await pictureOf(one), before)
      assert.strictEqual((await world.call(ci.headers, "GET", `${prod}/bundle`)).status, 200)
      assert.strictEqual(codeOf(await world.call(owner.headers, "POST", `${base}/${id}/restore`, {})), "NOT_FOUND")
    }
    const log = await world.logOf(one)
    const actions = log.filter(({ action }) => /\.(restore|delete)$/.test(action)).map(({ action }) => action)
    assert.includeMembers(actions, ["env.delete", "env.restore", "project.restore", "org.delete", "org.restore"])
    const verified = await made(owner.headers, "GET", `${org}/audit-logs/verify`)
    assert.isTrue(verified.valid)
  })

  it("comes back under another name, if its own is in use", async () => {
    const { owner, prod, ...one } = await world.organization()
    const at = `${one.project}/envs`
    const { id } = await removed(owner.headers, prod, `${one.project}/trash`)
    await made(owner.headers, "POST", at, { name: "prod" })
    const refused = await world.call(owner.headers, "POST", `${one.project}/trash/${id}/restore`, {})
    assert.strictEqual(codeOf(refused), "CONFLICT")
    assert.match(refused.body.error.message, /environment name prod is in use: restore it under another name/)
    const { name } = await made(owner.headers, "POST", `${one.project}/trash/${id}/restore`, { name: "prod-again" })
    assert.strictEqual(name, "prod-again")
    const { value } = await made(owner.headers, "GET", `${at}/prod-again/secrets/A`)
    assert.strictEqual(value, "one")
    const other = await removed(owner.headers, one.project, `${one.org}/trash`)
    await made(owner.headers, "POST", `${one.org}/projects`, { name: "webshop" })
    assert.strictEqual(
      codeOf(await world.call(owner.headers, "POST", `${one.org}/trash/${other.id}/restore`, {})),
      "CONFLICT"
    )
    await made(owner.headers, "POST", `${one.org}/trash/${other.id}/restore`, { name: "webshop-again" })
    assert.strictEqual((await world.call(owner.headers, "GET", `${one.org}/projects/webshop-again`)).status, 200)
  })

  it("is found and restored by who may remove it, alone", async () => {
    const one = await world.organization()
    const { admin, dev, guest, org, owner, prod, project } = one
    const stranger = await world.first.person(email(`${word()}@example.com`))
    const env = await removed(owner.headers, prod, envTrash(one))
    for (const { headers } of [dev, guest]) {
      assert.strictEqual(codeOf(await world.call(headers, "GET", envTrash(one))), "FORBIDDEN")
      assert.strictEqual(
        codeOf(await world.call(headers, "POST", `${envTrash(one)}/${env.id}/restore`, {})),
        "FORBIDDEN"
      )
    }
    assert.strictEqual(codeOf(await world.call(stranger.headers, "GET", envTrash(one))), "NOT_FOUND")
    // It is of another project, and of no organization of the stranger's.
    const own = await world.organization()
    for (const path of [`${envTrash(own)}/${env.id}`, `${orgTrash(own)}/${env.id}`, `/api/trash/${env.id}`]) {
      const refused = await world.call(own.owner.headers, "POST", `${path}/restore`, {})
      assert.strictEqual(codeOf(refused), "NOT_FOUND", path)
    }
    await made(admin.headers, "POST", `${envTrash(one)}/${env.id}/restore`, {})
    await made(owner.headers, "DELETE", org)
    const mine = `/api/trash?name=${nameOf(one)}`
    for (const { headers } of [admin, dev, stranger]) assert.deepStrictEqual(await removedIn(headers, mine), [])
    const [gone] = await removedIn(owner.headers, mine)
    for (const { headers } of [admin, dev, stranger]) {
      assert.strictEqual(codeOf(await world.call(headers, "POST", `/api/trash/${gone.id}/restore`, {})), "NOT_FOUND")
    }
    assert.strictEqual((await removedIn(world.first.root, mine)).length, 1)
    await made(world.first.root, "POST", `/api/trash/${gone.id}/restore`, {})
    assert.strictEqual((await world.call(owner.headers, "GET", project)).status, 200)
  })

  it("comes back only into a parent that exists, and not beyond the limits", async () => {
    const one = await world.organization()
    const { org, owner, prod, project } = one
    const { id } = await removed(owner.headers, prod, envTrash(one))
    const gone = await removed(owner.headers, project, orgTrash(one))
    assert.strictEqual(
      codeOf(await world.call(owner.headers, "POST", `${envTrash(one)}/${id}/restore`, {})),
      "NOT_FOUND"
    )
    await made(owner.headers, "POST", `${orgTrash(one)}/${gone.id}/restore`, {})
    // An environment that was removed before its project is not restored with the project.
    const names = (await made(owner.headers, "GET", `${project}/envs`)).data.map(({ name }: Json) => name)
    assert.deepStrictEqual(names, ["dev", "staging"])
    for (let index = 0; index < 98; index++) {
      await made(owner.headers, "POST", `${project}/envs`, { name: `env-${index}` })
    }
    const refused = await world.call(owner.headers, "POST", `${envTrash(one)}/${id}/restore`, {})
    assert.strictEqual(codeOf(refused), "LIMIT_EXCEEDED")
    await made(owner.headers, "DELETE", `${project}/envs/env-1`)
    await made(owner.headers, "POST", `${envTrash(one)}/${id}/restore`, {})
    assert.strictEqual((await world.call(owner.headers, "GET", `${org}/projects/webshop`)).status, 200)
  })

  it("brings back no requests, delegations and sessions of accounts: they end with it, with their entries", async () => {
    const one = await world.protectedOne({ self: true })
    const { ci, dev, owner, prod, project } = one
    const { id: waiting } = await world.propose(dev.headers, "PUT", `${prod}/secrets/A`, { value: "late" })
    const scope = { project: "webshop", env: "prod", permission: "read", expires_in: 3_600 }
    const delegation = await made(dev.headers, "POST", "/api/auth/delegations", {
      name: "agent",
      org: nameOf(one),
      ...scope
    })
    const agent = people(delegation.token)
    assert.strictEqual((await world.call(agent, "GET", `${prod}/secrets/A`)).status, 200)
    const { id: deletion } = await world.propose(owner.headers, "DELETE", project)
    assert.strictEqual((await world.vote(one, owner.headers, deletion)).status, 200)
    const request = await made(owner.headers, "GET", `${one.org}/requests/${waiting}`)
    assert.strictEqual(request.state, "outdated")
    assert.deepStrictEqual(request.outdated, ["project webshop was removed"])
    const done = await made(owner.headers, "GET", `${one.org}/requests/${deletion}`)
    assert.strictEqual(done.state, "done")
    const [{ id }] = await removedIn(owner.headers, orgTrash(one))
    const { id: restoring } = await world.propose(owner.headers, "POST", `${orgTrash(one)}/${id}/restore`, {})
    assert.strictEqual((await world.vote(one, owner.headers, restoring)).status, 200)
    assert.strictEqual(codeOf(await world.call(agent, "GET", `${prod}/secrets/A`)), "UNAUTHORIZED")
    assert.strictEqual((await world.call(ci.headers, "GET", `${prod}/secrets/A`)).status, 200)
    assert.strictEqual(codeOf(await world.vote(one, owner.headers, waiting)), "CONFLICT")
    const log = await world.logOf(one)
    const ended = log.filter(({ actor_name }) => actor_name === "trash").map(({ action }) => action)
    assert.sameMembers(ended, ["request.outdate", "delegation.revoke"])
  })
})

describe("the name of a removed organization", () => {
  it("is kept for its owners and superadmins, and for nobody else", async () => {
    const one = await world.organization()
    const { admin, org, owner } = one
    const name = nameOf(one)
    const stranger = await world.first.person(email(`${word()}@example.com`))
    const own = (await made(stranger.headers, "POST", "/api/orgs", { name: `org-${word()}` })).name
    await made(owner.headers, "DELETE", org)
    for (const { headers } of [stranger, admin]) {
      const refused = await world.call(headers, "POST", "/api/orgs", { name })
      assert.strictEqual(codeOf(refused), "CONFLICT")
      assert.strictEqual(refused.body.error.message, `the organization name ${name} is in use: choose another`)
    }
    assert.strictEqual(codeOf(await world.call(stranger.headers, "PATCH", `/api/orgs/${own}`, { name })), "CONFLICT")
    const imported = await world.call(stranger.headers, "POST", "/api/imports", { name, organization: "" })
    assert.strictEqual(codeOf(imported), "CONFLICT")
    await made(owner.headers, "POST", "/api/orgs", { name })
    const [gone] = await removedIn(owner.headers, `/api/trash?name=${name}`)
    const refused = await world.call(owner.headers, "POST", `/api/trash/${gone.id}/restore`, {})
    assert.match(refused.body.error.message, /is in use: restore it under another name/)
    const other = await removed(stranger.headers, `/api/orgs/${own}`, `/api/trash?name=${own}`)
    const taken = await world.call(owner.headers, "POST", `/api/trash/${gone.id}/restore`, { name: own })
    assert.strictEqual(codeOf(taken), "CONFLICT")
    await made(owner.headers, "POST", `/api/trash/${gone.id}/restore`, { name: `${name}-again` })
    assert.strictEqual((await world.call(admin.headers, "GET", `/api/orgs/${name}-again`)).status, 200)
    // Erased for good, it is free.
    await made(stranger.headers, "POST", `/api/trash/${other.id}/erase`, { name: own })
    await made(owner.headers, "POST", "/api/orgs", { name: own })
  })
})

const VersionRow = Schema.Struct({ left: Schema.Number, kept: Schema.Number })
const IdRow = Schema.Struct({ id: OrgId })

/** How many versions of an organization have a value, and how many have none. */
const versionsOf = (name: string) =>
  world.first.run(
    Effect.flatMap(query, ({ one }) =>
      one(VersionRow)`
        SELECT coalesce(sum(CASE WHEN v.wrapped_key IS NULL THEN 0 ELSE 1 END), 0) AS left, count(*) AS kept
        FROM organizations o JOIN projects p ON p.org_id = o.id JOIN environments e ON e.project_id = p.id
        JOIN secrets s ON s.env_id = e.id JOIN secret_versions v ON v.secret_id = s.id WHERE o.name = ${"name"}`({
        name
      })
    )
  )

const eventually = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.fail("it does not become so")
}

describe("the erasure of what was removed", () => {
  it("asks for its name, takes the values of all versions, and cannot be undone", async () => {
    const one = await filled()
    const { org, owner, prod } = one
    const name = nameOf(one)
    const before = await versionsOf(name)
    assert.deepStrictEqual(before, { left: 3, kept: 3 })
    const { id } = await removed(owner.headers, prod, envTrash(one))
    const wrong = await world.call(owner.headers, "POST", `${envTrash(one)}/${id}/erase`, { name: "staging" })
    assert.strictEqual(codeOf(wrong), "VALIDATION_ERROR")
    assert.include(wrong.body.error.message, "name: must be prod, the name of the removed environment")
    await made(owner.headers, "POST", `${envTrash(one)}/${id}/erase`, { name: "prod" })
    assert.deepStrictEqual(await removedIn(owner.headers, envTrash(one)), [])
    assert.strictEqual(
      codeOf(await world.call(owner.headers, "POST", `${envTrash(one)}/${id}/restore`, {})),
      "NOT_FOUND"
    )
    await eventually(async () => (await versionsOf(name)).left === 0)
    const log = await world.logOf(one)
    assert.include(
      log.map(({ action }) => action),
      "env.erase"
    )
    await made(owner.headers, "POST", `${one.project}/envs`, { name: "prod" })
    await made(owner.headers, "PUT", `${prod}/secrets/A`, { value: "new" })
    const gone = await removed(owner.headers, org, `/api/trash?name=${name}`)
    await made(owner.headers, "POST", `/api/trash/${gone.id}/erase`, { name })
    await eventually(async () => (await versionsOf(name)).left === 0)
    assert.deepStrictEqual(await versionsOf(name), { left: 0, kept: 4 })
  })

  it("is refused for a protected environment and what holds one, without votes; so is its restoration", async () => {
    const one = await world.protectedOne({ self: false })
    const { admin, other, owner, prod } = one
    const { id: deletion } = await world.propose(admin.headers, "DELETE", prod)
    assert.strictEqual((await world.vote(one, other.headers, deletion)).status, 200)
    const [{ id, protected: isProtected }] = await removedIn(owner.headers, envTrash(one))
    assert.isTrue(isProtected)
    const at = `${envTrash(one)}/${id}`
    for (const [path, body] of [
      [`${at}/restore`, {}],
      [`${at}/restore`, { name: "prod-again" }],
      [`${at}/erase`, { name: "prod" }]
    ] as const) {
      for (const { headers } of [owner, admin]) {
        assert.strictEqual(codeOf(await world.call(headers, "POST", path, body)), "APPROVAL_REQUIRED", path)
      }
    }
    const asked = await world.propose(admin.headers, "POST", `${at}/restore`, { name: "prod-again" })
    assert.deepInclude(asked, { call: "trash.restoreEnvironment", project: "webshop", env: "prod" })
    assert.deepStrictEqual(asked.details, ["name: prod-again"])
    assert.strictEqual(codeOf(await world.vote(one, admin.headers, asked.id)), "FORBIDDEN")
    assert.strictEqual((await world.vote(one, other.headers, asked.id)).status, 200)
    const { value } = await made(owner.headers, "GET", `${one.project}/envs/prod-again/secrets/A`)
    assert.strictEqual(value, "one")
    const again = `${one.project}/envs/prod-again`
    assert.strictEqual(
      codeOf(await world.call(owner.headers, "PUT", `${again}/secrets/A`, { value: "x" })),
      "APPROVAL_REQUIRED"
    )
    const { id: second } = await world.propose(admin.headers, "DELETE", again)
    assert.strictEqual((await world.vote(one, other.headers, second)).status, 200)
    const erasing = await world.propose(admin.headers, "POST", `${at}/erase`, { name: "prod-again" })
    const late = await world.propose(admin.headers, "POST", `${at}/restore`, {})
    assert.strictEqual((await world.vote(one, other.headers, erasing.id)).status, 200)
    await eventually(async () => (await versionsOf(nameOf(one))).left === 0)
    assert.strictEqual(codeOf(await world.vote(one, other.headers, late.id)), "CONFLICT")
  })

  it("of an organization with a protected environment is refused: nobody votes there", async () => {
    const one = await world.protectedOne({ self: true })
    const { org, owner } = one
    const { id: deletion } = await world.propose(owner.headers, "DELETE", org)
    assert.strictEqual((await world.vote(one, owner.headers, deletion)).status, 200)
    const name = nameOf(one)
    const [{ id }] = await removedIn(owner.headers, `/api/trash?name=${name}`)
    const refused = await world.call(owner.headers, "POST", `/api/trash/${id}/erase`, { name })
    assert.strictEqual(codeOf(refused), "APPROVAL_REQUIRED")
    assert.match(refused.body.error.message, /restore it, and end the protection of webshop\/prod first/)
    await made(owner.headers, "POST", `/api/trash/${id}/restore`, {})
    assert.strictEqual(
      codeOf(await world.call(owner.headers, "PUT", `${one.prod}/secrets/A`, { value: "x" })),
      "APPROVAL_REQUIRED"
    )
  })
})

/** Starts calls while the organization is held, and lets them go in their order. */
const inTurn = async (org: string, calls: ReadonlyArray<() => Promise<{ status: number; body: Json }>>) => {
  const started: Array<Promise<{ status: number; body: Json }>> = []
  await world.first.run(
    Effect.gen(function* () {
      const { change } = yield* Database
      const { one } = yield* query
      const { id } = yield* one(IdRow)`SELECT id FROM organizations WHERE name = ${"org"} ORDER BY id DESC LIMIT 1`({
        org
      })
      yield* change(
        [orgScope(id)],
        Effect.promise(async () => {
          for (const call of calls) {
            started.push(call())
            await new Promise((resolve) => setTimeout(resolve, 150))
          }
        })
      )
    })
  )
  return Promise.all(started)
}

describe("two at once on two servers", () => {
  const onSecond = (headers: Headers, method: string, path: string, body?: unknown) =>
    world.call(headers, method, path, body, world.second)

  it("restore a project, and create one of its name: one of them has it", async () => {
    const one = await world.organization()
    const { org, owner, project } = one
    for (const isRestoreFirst of [true, false]) {
      const { id } = await removed(owner.headers, project, orgTrash(one))
      const restore = () => world.call(owner.headers, "POST", `${orgTrash(one)}/${id}/restore`, {})
      const create = () => onSecond(owner.headers, "POST", `${org}/projects`, { name: "webshop" })
      const answers = await inTurn(nameOf(one), isRestoreFirst ? [restore, create] : [create, restore])
      assert.deepStrictEqual(answers.map(codeOf), [isRestoreFirst ? "200" : "201", "CONFLICT"])
    }
  })

  it("restore an environment, and remove its project: it is not live in a removed one", async () => {
    for (const isRestoreFirst of [true, false]) {
      const one = await world.organization()
      const { owner, prod, project } = one
      const { id } = await removed(owner.headers, prod, envTrash(one))
      const restore = () => world.call(owner.headers, "POST", `${envTrash(one)}/${id}/restore`, {})
      const remove = () => onSecond(owner.headers, "DELETE", project)
      const answers = await inTurn(nameOf(one), isRestoreFirst ? [restore, remove] : [remove, restore])
      assert.deepStrictEqual(answers.map(codeOf), isRestoreFirst ? ["200", "204"] : ["204", "NOT_FOUND"])
      const [gone] = await removedIn(owner.headers, orgTrash(one))
      await made(owner.headers, "POST", `${orgTrash(one)}/${gone.id}/restore`, {})
      const names = (await made(owner.headers, "GET", `${project}/envs`)).data.map(({ name }: Json) => name)
      assert.strictEqual(names.includes("prod"), isRestoreFirst)
      assert.strictEqual((await removedIn(owner.headers, envTrash(one))).length, isRestoreFirst ? 0 : 1)
    }
  })

  it("restore and erase an environment: it is whole, or it is gone", async () => {
    for (const isRestoreFirst of [true, false]) {
      const one = await world.organization()
      const { owner, prod } = one
      const { id } = await removed(owner.headers, prod, envTrash(one))
      const restore = () => world.call(owner.headers, "POST", `${envTrash(one)}/${id}/restore`, {})
      const erase = () => onSecond(owner.headers, "POST", `${envTrash(one)}/${id}/erase`, { name: "prod" })
      const answers = await inTurn(nameOf(one), isRestoreFirst ? [restore, erase] : [erase, restore])
      assert.deepStrictEqual(answers.map(codeOf), isRestoreFirst ? ["200", "NOT_FOUND"] : ["204", "NOT_FOUND"])
      if (isRestoreFirst) assert.strictEqual((await made(owner.headers, "GET", `${prod}/secrets/A`)).value, "one")
    }
  })

  it("restore an organization, and take its name: one of them has it", async () => {
    const one = await world.organization()
    const { org, owner } = one
    const name = nameOf(one)
    const { id } = await removed(owner.headers, org, `/api/trash?name=${name}`)
    const answers = await Promise.all([
      world.call(owner.headers, "POST", `/api/trash/${id}/restore`, {}),
      onSecond(world.first.root, "POST", "/api/orgs", { name })
    ])
    const codes = answers.map(codeOf)
    assert.strictEqual(codes.filter((code) => code === "CONFLICT").length, 1, codes.join())
  })
})

describe("a request about what was removed", () => {
  it("is not made for what can no longer be restored", async () => {
    const one = await world.protectedOne({ self: true })
    const { owner, prod } = one
    const { id: deletion } = await world.propose(owner.headers, "DELETE", prod)
    await world.vote(one, owner.headers, deletion)
    const [{ id }] = await removedIn(owner.headers, envTrash(one))
    await world.first.run(
      Effect.gen(function* () {
        const { change } = yield* Database
        const { one: first, write } = yield* query
        const { id: org } = yield* first(IdRow)`SELECT org_id AS id FROM trash WHERE place_id = ${"id"}`({ id })
        yield* change([orgScope(org)], write`UPDATE trash SET restorable_until = 1 WHERE place_id = ${"id"}`({ id }))
      })
    )
    assert.deepStrictEqual(await removedIn(owner.headers, envTrash(one)), [])
    const asked = await world.call({ ...owner.headers, ...asking }, "POST", `${envTrash(one)}/${id}/restore`, {})
    assert.strictEqual(codeOf(asked), "NOT_FOUND")
  })
})
