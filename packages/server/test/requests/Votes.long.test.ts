import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import type { Stage } from "../authorization/Scene.js"
import { asking, startWorld, type World } from "./World.js"

// Votes, and what takes a right away at the same time, on one server or two. Each round, the other one begins.

const rounds = 6
let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const actions = (log: ReadonlyArray<Json>): ReadonlyArray<string> =>
  log
    .map(({ action }) => action)
    .filter((action: string) => /^(request\.|secret\.set|protection\.|org\.member)/.test(action))
    .reverse()

/** Runs two calls at once, on a server each; the second first in odd rounds. */
const atOnce = async <A, B>(
  round: number,
  one: (server: Stage) => Promise<A>,
  other: (server: Stage) => Promise<B>
): Promise<readonly [A, B]> => {
  const { first, second } = world
  if (round % 2 === 0) return Promise.all([one(first), other(second)])
  const later = other(first)
  return [await one(second), await later]
}

describe("a protection", () => {
  it("keeps how long requests wait in whole minutes, hours or days", async () => {
    const { call, protectedOne } = world
    const one = await protectedOne({ expires_after: "60s" })
    const { body } = await call(one.owner.headers, "GET", `${one.prod}/protection`)
    assert.strictEqual(body.expires_after, "1m")
  })
})

describe("at the same time,", () => {
  it("two last votes make the change once", async () => {
    const { logOf, propose, protectedOne, valueOf, vote } = world
    for (let round = 0; round < rounds; round++) {
      const one = await protectedOne({ needed: 1 })
      const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "two" })
      const votes = await atOnce(
        round,
        (server) => vote(one, one.admin.headers, id, "approve", server),
        (server) => vote(one, one.other.headers, id, "approve", server)
      )
      assert.deepStrictEqual(votes.map(({ status }) => status).sort(), [200, 409])
      assert.strictEqual(await valueOf(one, "A"), "two")
      const log = await logOf(one)
      assert.strictEqual(
        log.filter(({ action }) => action === "secret.set").length,
        2,
        "one before, and one by the votes"
      )
      assert.strictEqual(log.filter(({ action }) => action === "request.apply").length, 1)
    }
  })

  it("a vote counts before its voter is demoted, or not at all", async () => {
    const { call, logOf, propose, protectedOne, valueOf, vote } = world
    for (let round = 0; round < rounds; round++) {
      const one = await protectedOne({ needed: 1 })
      const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "two" })
      const [voted, demoted] = await atOnce(
        round,
        (server) => vote(one, one.admin.headers, id, "approve", server),
        (server) => call(one.owner.headers, "PATCH", one.admin.member, { role: "member" }, server)
      )
      assert.strictEqual(demoted.status, 200)
      const isMade = voted.status === 200
      assert.strictEqual(await valueOf(one, "A"), isMade ? "two" : "one")
      const order = actions(await logOf(one))
      const last = order.filter((action) => action === "request.apply" || action === "org.member_role_update")
      assert.deepStrictEqual(last, [...(isMade ? ["request.apply"] : []), "org.member_role_update"])
    }
  })

  it("a vote is by the protection that the request was made under, or outdated", async () => {
    const { logOf, propose, protectedOne, valueOf, vote } = world
    for (let round = 0; round < rounds; round++) {
      const one = await protectedOne({ needed: 1 })
      const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "two" })
      const [voted, stricter] = await atOnce(
        round,
        (server) => vote(one, one.admin.headers, id, "approve", server),
        () => one.protect({ needed: 2 })
      )
      assert.strictEqual(stricter.status, 200)
      const order = actions(await logOf(one))
      assert.strictEqual(await valueOf(one, "A"), voted.status === 200 ? "two" : "one")
      assert.strictEqual(order.includes("request.outdate"), voted.status === 409, order.join())
    }
  })

  it("a vote counts a second before the request ends, and not after it", async () => {
    const { call, end, propose, protectedOne, valueOf, vote } = world
    for (const left of [1_000, -1]) {
      const one = await protectedOne({ needed: 1 })
      const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "two" })
      await end(id, left)
      const voted = await vote(one, one.admin.headers, id)
      assert.strictEqual(voted.status, left > 0 ? 200 : 409, JSON.stringify(voted.body))
      assert.strictEqual(await valueOf(one, "A"), left > 0 ? "two" : "one")
      const { state } = (await call(one.dev.headers, "GET", `${one.org}/requests/${id}`)).body
      assert.strictEqual(state, left > 0 ? "done" : "expired")
    }
  })

  it("a write and the vote for another keep what each was about", async () => {
    const { call, propose, organization, valueOf, vote } = world
    for (let round = 0; round < rounds; round++) {
      const one = await organization()
      await one.protect({ break_glass: [one.dev.email] })
      const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "voted" })
      const glass = { ...one.dev.headers, "x-coffer-break-glass": "now" }
      const [voted, written] = await atOnce(
        round,
        (server) => vote(one, one.admin.headers, id, "approve", server),
        (server) => call(glass, "PUT", `${one.prod}/secrets/A`, { value: "glass" }, server)
      )
      assert.strictEqual(written.status, 200)
      assert.include([200, 409], voted.status)
      assert.strictEqual(await valueOf(one, "A"), "glass", "the vote came first, or what it was about had changed")
    }
  })
})

describe("a vote", () => {
  it("is for the secrets that there were, and not for new ones at the same versions", async () => {
    const { call, propose, organization, valueOf, vote } = world
    const one = await organization()
    const { admin, dev, owner, prod } = one
    const write = (value: string) => call(owner.headers, "PUT", `${prod}/secrets/A`, { value })
    await write("two")
    await one.protect({ break_glass: [owner.email] })
    const rule = {
      ...{ hosts: ["api.example.com"], paths: ["/"], accounts: ["ci"] },
      place: { in: "header", name: "authorization", format: "Bearer {}" }
    }
    const requests = [
      await propose(dev.headers, "PUT", `${prod}/secrets/A`, { value: "voted" }),
      await propose(dev.headers, "DELETE", `${prod}/secrets/A`),
      await propose(dev.headers, "POST", `${prod}/secrets/A/destroy`, { versions: [1] }),
      await propose(dev.headers, "PATCH", `${prod}/secrets/A`, { rotate_every_days: 30 }),
      await propose(dev.headers, "POST", `${prod}/secrets/A/use-rules`, rule),
      await propose(owner.headers, "DELETE", prod)
    ]
    const glass = { ...owner.headers, "x-coffer-break-glass": "a new one" }
    assert.strictEqual((await call(glass, "DELETE", `${prod}/secrets/A`)).status, 204)
    for (const value of ["new", "newer"]) await call(glass, "PUT", `${prod}/secrets/A`, { value })
    for (const { call: asked, id } of requests) {
      const { body, status } = await vote(one, admin.headers, id)
      assert.deepStrictEqual([asked, status, body.error?.code], [asked, 409, "CONFLICT"], JSON.stringify(body))
      assert.match(body.error.message, /A was removed and set again/, asked)
    }
    assert.strictEqual(await valueOf(one, "A"), "newer")
  })

  it("is one of several for the end of an environment, whose requester had logged in", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne({ needed: 2 })
    const { admin, other, owner, prod } = one
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const { id } = await propose(owner.headers, "PATCH", prod, { expires_at })
    const states = []
    for (const { headers } of [admin, other]) states.push((await vote(one, headers, id)).body.state)
    assert.deepStrictEqual(states, ["pending", "done"])
    const { data } = (await call(owner.headers, "GET", `${one.project}/envs`)).body
    assert.strictEqual(data.find(({ name }: Json) => name === "prod").expires_at, expires_at)
  })

  it("is one of several for the erasure of a version, which the last one makes", async () => {
    const { call, propose, organization, vote } = world
    const one = await organization()
    const { admin, ci, org, other, owner, prod } = one
    await call(owner.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    const rule = { subject_type: "user", email: one.dev.email, permission: "admin" }
    await call(owner.headers, "POST", `${org}/acl`, { ...rule, project_pattern: "*", env_pattern: "*" })
    await one.protect({ needed: 2 })
    const { id } = await propose(one.dev.headers, "POST", `${prod}/secrets/A/destroy`, { versions: [1] })
    const states = []
    for (const { headers } of [admin, other]) states.push((await vote(one, headers, id)).body?.state)
    assert.deepStrictEqual(states, ["pending", "done"])
    const { data } = (await call(ci.headers, "GET", `${prod}/secrets/A/versions`)).body
    assert.deepStrictEqual(
      data.map(({ destroyed }: Json) => destroyed),
      [false, true]
    )
  })

  it("is gone with the membership of its voter, who may vote again when invited again", async () => {
    const { call, propose, protectedOne, valueOf, vote } = world
    const one = await protectedOne({ needed: 2 })
    const { admin, ci, org, other, owner, prod } = one
    const { id } = await propose(ci.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    assert.strictEqual((await vote(one, admin.headers, id)).status, 200)
    await call(owner.headers, "DELETE", admin.member)
    await call(owner.headers, "POST", `${org}/members`, { email: admin.email, role: "admin" })
    assert.strictEqual((await vote(one, other.headers, id)).body.state, "pending")
    assert.strictEqual(await valueOf(one, "A"), "one")
    assert.strictEqual((await vote(one, admin.headers, id)).body.state, "done")
  })

  it("is gone when its voter is disabled, who may vote again when enabled", async () => {
    const { call, first, propose, protectedOne, valueOf, vote } = world
    const one = await protectedOne({ needed: 2 })
    const { admin, ci, other, owner, prod } = one
    const { id } = await propose(ci.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    const { body: kept } = await vote(
      one,
      admin.headers,
      (await propose(ci.headers, "DELETE", `${prod}/secrets/A`)).id,
      "refuse"
    )
    assert.strictEqual((await vote(one, admin.headers, id)).status, 200)
    for (const change of ["disable", "enable"]) await first.asRoot("POST", `/api/users/${admin.id}/${change}`)
    const voted = await vote(one, other.headers, id)
    assert.deepStrictEqual([voted.body.state, voted.body.votes.map(({ by }: Json) => by)], ["pending", [other.email]])
    assert.strictEqual(await valueOf(one, "A"), "one")
    const ended = (await call(owner.headers, "GET", `${one.org}/requests/${kept.id}`)).body
    assert.deepStrictEqual(ended.votes, kept.votes, "what has ended keeps its votes")
    const again = await first.session(admin.id)
    assert.strictEqual((await vote(one, again.headers, id)).body.state, "done")
    assert.strictEqual(await valueOf(one, "A"), "two")
  })

  it("of one's own gives nobody access, whatever it counts for changes", async () => {
    const { call, organization, vote } = world
    const one = await organization()
    const { guest, org, owner } = one
    await one.protect({ approvers: [guest.email, owner.email], self: true })
    const access = {
      kind: "access",
      project: "webshop",
      env: "prod",
      permission: "read",
      expires_in: 60,
      reason: "a look"
    }
    const { id, may_vote } = (await call(guest.headers, "POST", `${org}/requests`, access)).body
    assert.isFalse(may_vote)
    assert.strictEqual((await vote(one, guest.headers, id)).status, 403)
    assert.strictEqual((await vote(one, owner.headers, id)).body.state, "done")
  })

  it("is asked for with the keys that become references, which change without votes from then on", async () => {
    const { call, organization, propose } = world
    const one = await organization()
    const { dev, owner, prod, project } = one
    const inDev = `${project}/envs/dev/secrets`
    await call(owner.headers, "PUT", `${inDev}/B`, { value: "of dev" })
    await call(owner.headers, "PUT", `${inDev}/REF`, { value: "${B}", kind: "reference" })
    await one.protect()
    const reference = "${dev:B}"
    const asked = [
      await propose(dev.headers, "PUT", `${prod}/secrets/A`, { value: reference, kind: "reference" }),
      await propose(dev.headers, "PATCH", `${prod}/bundle`, { references: { A: reference, C: reference } }),
      await propose(dev.headers, "PATCH", `${prod}/bundle`, { set: { A: "two" } })
    ]
    const details = asked.map((request) => request.details)
    assert.deepStrictEqual(details, [["become references: A"], ["become references: A, C"], []])
  })

  it("is waited for by at most 20 requests of one account, not counting those that have ended", async () => {
    const { call, end, propose, protectedOne } = world
    const { ci, prod } = await protectedOne()
    const write = (index: number) => ["PUT", `${prod}/secrets/K_${index}`, { value: "x" }] as const
    const ids: Array<string> = []
    for (let index = 0; index < 20; index++) ids.push((await propose(ci.headers, ...write(index))).id)
    const full = await call({ ...ci.headers, ...asking }, ...write(20))
    assert.deepStrictEqual([full.status, full.body.error.code], [409, "LIMIT_EXCEEDED"])
    await end(ids[0] ?? "", -1)
    await propose(ci.headers, ...write(20))
  })
})

describe("broken glass", () => {
  it("removes no project with a protected environment that does not name the person, however many others do", async () => {
    const { call, organization } = world
    const { dev, org, owner } = await organization()
    const project = `${org}/projects/glass`
    await call(owner.headers, "POST", `${org}/projects`, { name: "glass" })
    const protect = async (env: string, break_glass: ReadonlyArray<string>, more: object = {}) => {
      await call(owner.headers, "POST", `${project}/envs`, { name: env })
      const terms = { needed: 1, approvers: "owners", break_glass, ...more }
      assert.strictEqual((await call(owner.headers, "PUT", `${project}/envs/${env}/protection`, terms)).status, 200)
    }
    const remove = () => call({ ...owner.headers, "x-coffer-break-glass": "INC-12" }, "DELETE", project)
    await protect("other", [dev.email])
    // Those that are protected alike count as one.
    for (const env of ["aa", "ab", "ac"]) await protect(env, [owner.email])
    assert.strictEqual((await remove()).status, 403)
    await protect("ad", [owner.email], { approvers: "admins" })
    await protect("ae", [owner.email], { needed: 2 })
    const refused = await remove()
    assert.deepStrictEqual([refused.status, refused.body?.error.code], [409, "APPROVAL_REQUIRED"])
    assert.match(refused.body.error.message, /glass\/aa, glass\/ad, glass\/ae and more the same protection/)
    assert.strictEqual((await call(owner.headers, "GET", project)).status, 200)
  })
})
