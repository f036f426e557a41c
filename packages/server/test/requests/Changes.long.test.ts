import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { publicUrl } from "../federations/Signer.js"
import type { Json } from "../support/Program.js"
import { passkeysOf } from "../support/SoftAuthenticator.js"
import { asking, startWorld, type World } from "./World.js"

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const keysOf = ({ keys }: Json) => keys.map(({ change, key, version }: Json) => `${key} ${change} ${version}`)

describe("a change of a protected environment", () => {
  it("is refused without a word, asked for with one, and made by the last vote", async () => {
    const { call, logOf, propose, protectedOne, valueOf, vote } = world
    const one = await protectedOne({ needed: 2 })
    const { admin, ci, dev, guest, other, prod } = one
    const refused = await call(ci.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "APPROVAL_REQUIRED"])
    const request = await propose(
      { ...ci.headers, "x-coffer-reason": encodeURIComponent("für die Kasse") },
      "PUT",
      `${prod}/secrets/A`,
      { value: "two" }
    )
    assert.strictEqual(request.state, "pending")
    assert.strictEqual(request.reason, "für die Kasse")
    assert.deepStrictEqual(keysOf(request), ["A updated 1"])
    assert.strictEqual(await valueOf(one, "A"), "one")
    // Neither those whom the protection does not name, nor machines, nor people twice.
    assert.strictEqual((await vote(one, dev.headers, request.id)).status, 403)
    assert.strictEqual((await vote(one, guest.headers, request.id)).status, 404)
    assert.strictEqual((await vote(one, ci.headers, request.id)).status, 403)
    const first = await vote(one, admin.headers, request.id)
    assert.deepStrictEqual([first.status, first.body.state, first.body.votes.length], [200, "pending", 1])
    assert.strictEqual((await vote(one, admin.headers, request.id)).status, 409)
    assert.strictEqual(await valueOf(one, "A"), "one")
    const last = await vote(one, other.headers, request.id)
    assert.deepStrictEqual([last.status, last.body.state, last.body.revision], [200, "done", 2])
    assert.strictEqual(await valueOf(one, "A"), "two")
    const { data } = (await call(dev.headers, "GET", `${prod}/revisions`)).body
    assert.deepStrictEqual(
      [data[0].created_by, data[0].approved_by, data[0].request_id],
      ["ci", [admin.email, other.email], request.id]
    )
    const set = (await logOf(one)).find(({ action }) => action === "secret.set")
    assert.deepStrictEqual([set.actor_name, set.metadata.approved_by], ["ci", [admin.email, other.email]])
    assert.notInclude(JSON.stringify(await logOf(one)), "two")
  })

  it("is read only by those who may read there, and by nobody when it has ended", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, dev, guest, org, owner, prod } = one
    const request = await propose(dev.headers, "PATCH", `${prod}/bundle`, {
      set: { B: "a secret", C: "another" },
      delete: ["A"]
    })
    assert.deepStrictEqual(keysOf(request), ["A deleted 1", "B created 0", "C created 0"])
    assert.deepStrictEqual(request.details, [])
    const values = `${org}/requests/${request.id}/values`
    assert.deepStrictEqual((await call(owner.headers, "GET", values)).body.data, [
      { key: "B", value: "a secret" },
      { key: "C", value: "another" }
    ])
    assert.strictEqual((await call(guest.headers, "GET", values)).status, 404)
    const refused = await vote(one, admin.headers, request.id, "refuse")
    assert.strictEqual(refused.body.state, "refused")
    assert.strictEqual((await call(owner.headers, "GET", values)).status, 409)
    assert.strictEqual((await vote(one, owner.headers, request.id)).status, 409)
  })

  it("is outdated when a key, the protection, or the requester's right has changed, and says which", async () => {
    const { call, propose, protectedOne, valueOf, vote } = world
    const one = await protectedOne({ needed: 1, break_glass: [] })
    const { admin, ci, dev, org, other, owner, prod } = one
    const set = (value: string) => ({ set: { A: value, NEW: value } })
    const requests = [
      await propose(ci.headers, "PATCH", `${prod}/bundle`, set("two")),
      await propose(dev.headers, "PATCH", `${prod}/bundle`, set("three"))
    ]
    assert.strictEqual((await vote(one, admin.headers, requests[0].id)).body.state, "done")
    const late = await vote(one, admin.headers, requests[1].id)
    assert.strictEqual(late.status, 409)
    assert.match(
      late.body.error.message,
      /A is at version 2, and was at version 1; NEW is at version 1, and did not exist/
    )
    const shown = (await call(dev.headers, "GET", `${org}/requests/${requests[1].id}`)).body
    assert.strictEqual(shown.state, "outdated")
    assert.strictEqual(shown.outdated.length, 2)
    // The right is gone.
    const lost = await propose(ci.headers, "PUT", `${prod}/secrets/A`, { value: "four" })
    await call(owner.headers, "DELETE", ci.rule)
    const refused = await vote(one, other.headers, lost.id)
    assert.strictEqual(refused.status, 409, JSON.stringify(refused.body))
    assert.match(refused.body.error.message, /write/)
    // The protection is stricter.
    const stale = await propose(dev.headers, "PUT", `${prod}/secrets/A`, { value: "five" })
    assert.strictEqual((await one.protect({ needed: 2 })).status, 200)
    assert.match((await vote(one, other.headers, stale.id)).body.error.message, /protection of the environment/)
    assert.strictEqual(await valueOf(one, "A"), "two")
  })

  it("is made with what its account may do now, whichever of its keys asked: no key may do more or less", async () => {
    const { call, propose, protectedOne, valueOf, vote } = world
    const one = await protectedOne({ needed: 1 })
    const { admin, ci, org, owner, prod } = one
    const { data } = (await call(owner.headers, "GET", `${org}/service-accounts`)).body
    const account = `${org}/service-accounts/${data[0].id}`
    const write = (value: string) => propose(ci.headers, "PUT", `${prod}/secrets/A`, { value })
    const [rotated, revoked] = [await write("two"), await write("three")]
    assert.strictEqual((await call(owner.headers, "POST", `${account}/rotate`, {})).status, 200)
    assert.strictEqual((await call(ci.headers, "GET", `${prod}/secrets`)).status, 401)
    assert.strictEqual((await vote(one, admin.headers, rotated.id)).body.state, "done")
    assert.strictEqual((await call(owner.headers, "DELETE", account)).status, 204)
    const { body, status } = await vote(one, admin.headers, revoked.id)
    assert.strictEqual(status, 409)
    assert.match(body.error.message, /ci may not act any more/)
    assert.strictEqual(await valueOf(one, "A"), "two")
  })

  it("needs votes to weaken or end the protection, and to remove what holds it", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne({ needed: 1, approvers: "owners", self: true })
    const { org, owner, prod, project } = one
    const weaker = { needed: 1, approvers: "admins" }
    assert.strictEqual((await call(owner.headers, "PUT", `${prod}/protection`, weaker)).status, 409)
    for (const path of [prod, project, org, `${prod}/protection`]) {
      const { body, status } = await call(owner.headers, "DELETE", path)
      assert.deepStrictEqual([path, status, body.error.code], [path, 409, "APPROVAL_REQUIRED"])
    }
    const asked = await propose(owner.headers, "PUT", `${prod}/protection`, weaker)
    assert.deepStrictEqual(asked.details, ["needed: 1", "approvers: admins"])
    assert.strictEqual((await vote(one, owner.headers, asked.id)).body.state, "done")
    assert.strictEqual((await call(owner.headers, "GET", `${prod}/protection`)).body.approvers, "admins")
    const gone = await propose(owner.headers, "DELETE", project)
    assert.strictEqual(gone.call, "projects.delete")
    assert.strictEqual((await vote(one, one.admin.headers, gone.id)).body.state, "done")
    assert.strictEqual((await call(owner.headers, "GET", project)).status, 404)
  })

  it("is made where it was asked for, and never in another place that has the name by now", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne({ needed: 1 })
    const { admin, org, other, owner, prod, project } = one
    const requests = [
      await propose(owner.headers, "DELETE", project),
      await propose(owner.headers, "DELETE", prod),
      await propose(owner.headers, "PUT", `${prod}/secrets/A`, { value: "two" }),
      await propose(owner.headers, "PUT", `${prod}/protection`, { needed: 1, approvers: "owners" })
    ]
    const renamed = await propose(owner.headers, "PATCH", project, { name: "shop" })
    assert.strictEqual((await vote(one, other.headers, renamed.id)).body.state, "done")
    const namesake = await propose(owner.headers, "POST", `${org}/projects`, { name: "webshop" })
    assert.strictEqual((await vote(one, other.headers, namesake.id)).body.state, "done")
    await call(owner.headers, "PUT", `${prod}/secrets/A`, { value: "of the new one" })
    for (const { id } of requests) {
      const { body, status } = await vote(one, admin.headers, id)
      assert.deepStrictEqual([status, body.error?.code], [409, "CONFLICT"], JSON.stringify(body))
      assert.match(body.error.message, /shop\/prod was renamed after the request was made/)
    }
    assert.strictEqual((await call(owner.headers, "GET", `${prod}/secrets/A`)).body.value, "of the new one")
    assert.strictEqual((await call(owner.headers, "GET", `${prod}/protection`)).status, 404)
  })

  it("needs the voter's passkey where the protection asks for one", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne({ passkey: true })
    const { admin, ci, prod } = one
    const { id } = await propose(ci.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    const without = await vote(one, admin.headers, id)
    assert.deepStrictEqual([without.status, without.body.error.code], [403, "FORBIDDEN"])
    assert.match(without.body.error.message, /passkey/)
    const passkeys = passkeysOf(async (...ask) => (await call(admin.headers, ...ask)).body, publicUrl)
    // Its registration proves the session too.
    await passkeys.register("laptop")
    assert.strictEqual((await vote(one, admin.headers, id)).body.state, "done")
  })

  it("passes at once by broken glass, with a reason, for those whom the protection names", async () => {
    const { call, logOf, organization, valueOf } = world
    const one = await organization()
    const { admin, dev, prod } = one
    await one.protect({ break_glass: [dev.email] })
    const glass = (reason: string) => ({ "x-coffer-break-glass": encodeURIComponent(reason) })
    const write = (headers: Readonly<Record<string, string>>) =>
      call(headers, "PUT", `${prod}/secrets/A`, { value: "now" })
    assert.strictEqual((await write({ ...admin.headers, ...glass("INC-12") })).status, 403)
    assert.strictEqual((await write({ ...dev.headers, ...glass("") })).status, 400)
    assert.strictEqual((await write({ ...dev.headers, "x-coffer-break-glass": "%" })).status, 400)
    assert.strictEqual((await write({ ...dev.headers, ...glass("INC-12: Kasse steht") })).status, 200)
    assert.strictEqual(await valueOf(one, "A"), "now")
    const [entry, ...others] = (await logOf(one)).filter(({ action }) => action === "secret.break_glass")
    assert.strictEqual(others.length, 0)
    assert.strictEqual(entry.metadata.reason, "INC-12: Kasse steht")
  })

  it("tells nothing about the current value to an account that never gets values", async () => {
    const { call, propose, protectedOne } = world
    const { org, owner, prod } = await protectedOne()
    const { api_key, id } = (
      await call(owner.headers, "POST", `${org}/service-accounts`, { name: "blind", reveal: false })
    ).body
    const subject = { subject_type: "service_account", subject_id: id, permission: "write" }
    await call(owner.headers, "POST", `${org}/acl`, { ...subject, project_pattern: "webshop", env_pattern: "prod" })
    const headers = { "x-api-key": api_key }
    const guesses = ["one", "two"].map((value) => propose(headers, "PATCH", `${prod}/bundle`, { set: { A: value } }))
    const [right, wrong] = await Promise.all(guesses)
    assert.deepStrictEqual(keysOf(right), keysOf(wrong))
  })

  it("is refused at once if nobody could approve it, or if it would fail", async () => {
    const { call, organization, protectedOne } = world
    const none = await organization()
    assert.strictEqual((await none.protect({ needed: 2, approvers: "owners" })).status, 409)
    assert.strictEqual((await none.protect({ needed: 1, approvers: "owners" })).status, 200)
    assert.strictEqual((await none.protect({ needed: 3, approvers: "owners" })).status, 409)
    assert.strictEqual((await none.protect({ needed: 3, approvers: [none.dev.email] })).status, 409)
    const { dev, prod } = await protectedOne()
    const missing = await call({ ...dev.headers, ...asking }, "DELETE", `${prod}/secrets/NONE`)
    assert.strictEqual(missing.status, 404)
    const dry = await call(dev.headers, "PATCH", `${prod}/bundle`, { set: { A: "x" }, dry_run: true })
    assert.deepStrictEqual([dry.status, dry.body.data[0].change], [200, "updated"])
  })
})

describe("a request for access", () => {
  it("becomes a rule that ends beside a lasting one, and asks for nothing that one has or cannot have", async () => {
    const { call, organization, vote } = world
    const one = await organization()
    const { admin, dev, guest, org, prod } = one
    const ask = (headers: Readonly<Record<string, string>>, more: object = {}) =>
      call(headers, "POST", `${org}/requests`, {
        kind: "access",
        project: "webshop",
        env: "prod",
        permission: "read",
        expires_in: 3_600,
        reason: "INC-12",
        ...more
      })
    const nothing = await ask(dev.headers)
    assert.strictEqual(nothing.status, 409)
    const absent = await ask(guest.headers, { env: "nowhere" })
    assert.strictEqual(absent.status, 409)
    assert.strictEqual((await ask(guest.headers, { permission: "write" })).status, 409)
    const asked = await ask(guest.headers)
    assert.deepStrictEqual([asked.status, asked.body.needed], [201, 1], JSON.stringify(asked.body))
    assert.strictEqual((await call(guest.headers, "GET", `${prod}/secrets/A`)).status, 403)
    assert.strictEqual((await vote(one, guest.headers, asked.body.id)).status, 403)
    const { body } = await vote(one, admin.headers, asked.body.id)
    assert.strictEqual(body.state, "done", JSON.stringify(body))
    assert.strictEqual((await call(guest.headers, "GET", `${prod}/secrets/A`)).status, 200)
    // A lasting rule for the same patterns is another one.
    const rule = { subject_type: "user", email: guest.email, project_pattern: "webshop", env_pattern: "prod" }
    assert.strictEqual((await call(admin.headers, "POST", `${org}/acl`, { ...rule, permission: "read" })).status, 201)
    const { data } = (await call(admin.headers, "GET", `${org}/acl`)).body
    const [ends, lasts] = data.filter(({ email }: Json) => email === guest.email)
    assert.deepStrictEqual([ends.id, typeof ends.expires_at, lasts.expires_at], [body.rule_id, "string", undefined])
    const own = (await call(guest.headers, "GET", `${org}/requests`)).body.data
    assert.deepStrictEqual(
      own.map(({ id }: Json) => id),
      [asked.body.id]
    )
    const again = await ask(guest.headers, { permission: "read" })
    assert.strictEqual(again.status, 409)
  })

  it("is withdrawn by whoever asked, and by nobody else", async () => {
    const { call, organization, vote } = world
    const one = await organization()
    const asked = await call(one.guest.headers, "POST", `${one.org}/requests`, {
      kind: "access",
      project: "webshop",
      env: "prod",
      permission: "read",
      expires_in: 60,
      reason: "a look"
    })
    assert.strictEqual((await vote(one, one.admin.headers, asked.body.id, "withdraw")).status, 403)
    assert.strictEqual((await vote(one, one.guest.headers, asked.body.id, "withdraw")).body.state, "withdrawn")
    assert.strictEqual((await vote(one, one.admin.headers, asked.body.id)).status, 409)
  })
})
