import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { word } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { startWorld, type Answer, type World } from "./World.js"

// Protection is bound to an environment, and its consumers read by names.

let world: World
beforeAll(async () => {
  world = await startWorld({ SERVICE_ORG_CREATION: "anyone" })
})
afterAll(() => world.stop())

const needsVotes = ({ body, status }: Answer) => {
  assert.deepStrictEqual([status, body?.error?.code], [409, "APPROVAL_REQUIRED"], JSON.stringify(body))
  return body.error.message
}

const made = ({ body, status }: Answer): Json => {
  assert.include([200, 201, 204], status, JSON.stringify(body))
  return body
}

/** Lets the held names be held no longer. */
const passDays = () =>
  world.first.run(
    Effect.gen(function* () {
      const { transaction } = yield* Database
      const { write } = yield* query
      yield* transaction(write`UPDATE freed_names SET expires_at = 0`({}))
    })
  )

describe("the name of a protected place", () => {
  it("is not taken by an admin alone, who renames the project and makes another of its name", async () => {
    const { call, propose, protectedOne, valueOf, vote } = world
    const one = await protectedOne()
    const { admin, org, other, project } = one
    const renaming = { name: "shop" }
    assert.include(needsVotes(await call(admin.headers, "PATCH", project, renaming)), "webshop/prod is protected")
    assert.strictEqual(await valueOf(one, "A"), "one")
    // A change that moves no name needs no votes.
    made(await call(admin.headers, "PATCH", project, { strict: true }))
    const renamed = await propose(admin.headers, "PATCH", project, renaming)
    assert.strictEqual((await vote(one, other.headers, renamed.id)).body.state, "done")
    // The freed name is given to nobody else without the same votes: by a new project, or by the rename of one.
    const taking = { name: "webshop" }
    assert.include(
      needsVotes(await call(admin.headers, "POST", `${org}/projects`, taking)),
      "the project name webshop belonged to what is protected as shop/prod"
    )
    made(await call(admin.headers, "POST", `${org}/projects`, { name: "elsewhere" }))
    needsVotes(await call(admin.headers, "PATCH", `${org}/projects/elsewhere`, taking))
    assert.strictEqual((await call(admin.headers, "GET", project)).status, 404)
    const moving = await propose(admin.headers, "PATCH", `${org}/projects/elsewhere`, taking)
    assert.deepStrictEqual(moving.details, ["project: elsewhere", "name: webshop"])
    const asked = await propose(admin.headers, "POST", `${org}/projects`, taking)
    assert.deepStrictEqual([asked.project, asked.env, asked.details], ["shop", "prod", ["name: webshop"]])
    assert.strictEqual((await vote(one, other.headers, asked.id)).body.state, "done")
    made(await call(admin.headers, "GET", project))
  })

  it("is the place's own again with its votes, and everybody's after 30 days", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, org, other, project } = one
    const rename = async (path: string, name: string) => {
      const { id } = await propose(admin.headers, "PATCH", path, { name })
      assert.strictEqual((await vote(one, other.headers, id)).body.state, "done")
    }
    await rename(project, "shop")
    await rename(`${org}/projects/shop`, "webshop")
    await rename(project, "shop")
    needsVotes(await call(admin.headers, "POST", `${org}/projects`, { name: "webshop" }))
    await passDays()
    made(await call(admin.headers, "POST", `${org}/projects`, { name: "webshop" }))
  })

  it("is held after the place was removed: of an environment, and of a project", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, org, other, owner, prod, project } = one
    const gone = await propose(owner.headers, "DELETE", prod)
    assert.strictEqual((await vote(one, admin.headers, gone.id)).body.state, "done")
    needsVotes(await call(admin.headers, "POST", `${project}/envs`, { name: "prod" }))
    needsVotes(await call(admin.headers, "POST", `${project}/envs`, { name: "prod", from: "dev" }))
    made(await call(admin.headers, "POST", `${project}/envs`, { name: "other" }))
    const again = await propose(admin.headers, "POST", `${project}/envs`, { name: "prod" })
    assert.strictEqual((await vote(one, other.headers, again.id)).body.state, "done")
    made(await one.protect())
    const all = await propose(admin.headers, "DELETE", project)
    assert.strictEqual((await vote(one, other.headers, all.id)).body.state, "done")
    needsVotes(await call(admin.headers, "POST", `${org}/projects`, { name: "webshop" }))
    const back = await propose(admin.headers, "POST", `${org}/projects`, { name: "webshop" })
    assert.strictEqual((await vote(one, other.headers, back.id)).body.state, "done")
  })

  it("is given out at once where nothing was protected, or where the votes ended the protection", async () => {
    const { call, organization, propose, protectedOne, vote } = world
    const open = await organization()
    made(await call(open.admin.headers, "PATCH", open.project, { name: "shop" }))
    made(await call(open.admin.headers, "POST", `${open.org}/projects`, { name: "webshop" }))
    const one = await protectedOne()
    const renamed = await propose(one.admin.headers, "PATCH", one.project, { name: "shop" })
    assert.strictEqual((await vote(one, one.other.headers, renamed.id)).body.state, "done")
    const shop = `${one.org}/projects/shop/envs/prod/protection`
    const ended = await propose(one.owner.headers, "DELETE", shop)
    assert.strictEqual((await vote(one, one.admin.headers, ended.id)).body.state, "done")
    made(await call(one.admin.headers, "POST", `${one.org}/projects`, { name: "webshop" }))
  })

  it("of an organization is for those who can ask its voters, and nobody else's", async () => {
    const { call, first, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, guest, org, owner } = one
    const name = org.slice("/api/orgs/".length)
    const stranger = await first.person(email(`${word()}@example.com`))
    needsVotes(await call(owner.headers, "PATCH", org, { name: `${name}-new` }))
    const renamed = await propose(owner.headers, "PATCH", org, { name: `${name}-new` })
    assert.strictEqual((await vote(one, admin.headers, renamed.id)).body.state, "done")
    const refused = await call({ ...stranger.headers, prefer: "respond-async" }, "POST", "/api/orgs", { name })
    assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "CONFLICT"])
    assert.notInclude(refused.body.error.message, `${name}-new`)
    assert.strictEqual((await call(stranger.headers, "POST", "/api/imports", { name, organization: "" })).status, 409)
    const mine = await call(stranger.headers, "POST", "/api/orgs", { name: `${name}-other` })
    assert.strictEqual(mine.status, 201)
    const moved = await call(stranger.headers, "PATCH", `/api/orgs/${name}-other`, { name })
    assert.strictEqual(moved.body.error.code, "CONFLICT")
    const asked = await propose(guest.headers, "POST", "/api/orgs", { name })
    const voted = await call(admin.headers, "POST", `${org}-new/requests/${asked.id}/approve`)
    assert.strictEqual(voted.body.state, "done", JSON.stringify(voted.body))
    assert.strictEqual(made(await call(guest.headers, "GET", org)).role, "owner")
    // Its own name again needs the votes that any name needs.
    const next = await propose(owner.headers, "DELETE", `${org}-new`)
    assert.strictEqual((await call(admin.headers, "POST", `${org}-new/requests/${next.id}/approve`)).body.state, "done")
    const held = await call(owner.headers, "POST", "/api/orgs", { name: `${name}-new` })
    assert.deepStrictEqual([held.status, held.body.error.code], [409, "CONFLICT"])
  })

  it("needs one request for all environments with the same protection, and takes no request where they differ", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, owner, project } = one
    const protection = `${project}/envs/staging/protection`
    made(await call(owner.headers, "PUT", protection, { needed: 2, approvers: "admins" }))
    const asking = { ...admin.headers, prefer: "respond-async" }
    const differing = needsVotes(await call(asking, "PATCH", project, { name: "shop" }))
    assert.include(differing, "webshop/prod, webshop/staging the same protection")
    made(await one.protect({ needed: 2 }))
    const { id } = await propose(admin.headers, "PATCH", project, { name: "shop" })
    assert.strictEqual((await vote(one, one.other.headers, id)).body.state, "pending")
    assert.strictEqual((await vote(one, owner.headers, id)).body.state, "done")
  })

  it("goes to nobody who takes it while it is being freed, on two servers", async () => {
    const { call, first, propose, protectedOne, second } = world
    for (let round = 0; round < 6; round++) {
      const one = await protectedOne()
      const { admin, org, owner } = one
      const name = org.slice("/api/orgs/".length)
      const stranger = await first.person(email(`${word()}@example.com`))
      const { id } = await propose(owner.headers, "PATCH", org, { name: `${name}-new` })
      const approve = () => call(admin.headers, "POST", `${org}/requests/${id}/approve`, undefined, first)
      const take = () => call(stranger.headers, "POST", "/api/orgs", { name }, second)
      const [approved, taken] = await (round % 2 === 0
        ? Promise.all([approve(), take()])
        : Promise.all([take(), approve()]).then(([one, other]) => [other, one] as const))
      assert.strictEqual(approved.body.state, "done", JSON.stringify(approved.body))
      assert.deepStrictEqual([taken.status, taken.body.error.code], [409, "CONFLICT"])
    }
  })
})
