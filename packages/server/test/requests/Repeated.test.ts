import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startWorld, type World } from "./World.js"

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

describe("a change asked for again", () => {
  it("is the request that waits already, whatever its reason, without a second mail or entry", async () => {
    const { call, logOf, propose, protectedOne } = world
    const one = await protectedOne()
    const { dev, org, owner, prod } = one
    const body = { set: { A: "two", B: "x".repeat(60_000) } }
    const first = await propose({ ...dev.headers, "x-coffer-reason": "one" }, "PATCH", `${prod}/bundle`, body)
    assert.isUndefined(first.was_waiting)
    const entries = (await logOf(one)).length
    const second = await propose({ ...dev.headers, "x-coffer-reason": "two" }, "PATCH", `${prod}/bundle`, body)
    assert.deepStrictEqual([second.id, second.was_waiting, second.reason], [first.id, true, "one"])
    assert.lengthOf(await logOf(one), entries)
    assert.lengthOf((await call(owner.headers, "GET", `${org}/requests`)).body.data, 1)
    const read = (await call(dev.headers, "GET", `${org}/requests/${first.id}`)).body
    assert.isUndefined(read.was_waiting)
  })

  it("is another one with other values, by somebody else, on another version, or once the first has ended", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, ci, dev, owner, prod } = one
    const set = (headers: typeof dev.headers, value: string) => propose(headers, "PUT", `${prod}/secrets/A`, { value })
    const ids = new Set<string>()
    const first = await set(dev.headers, "two")
    ids.add(first.id)
    ids.add((await set(dev.headers, "owt")).id)
    ids.add((await set(ci.headers, "two")).id)
    assert.strictEqual(ids.size, 3)
    // Not only the newest one is compared.
    assert.strictEqual((await set(dev.headers, "two")).id, first.id)
    assert.strictEqual((await call(dev.headers, "POST", `${one.org}/requests/${first.id}/withdraw`)).status, 200)
    const again = await set(dev.headers, "two")
    ids.add(again.id)
    assert.strictEqual(ids.size, 4)
    const other = await set(owner.headers, "three")
    assert.strictEqual((await vote(one, admin.headers, other.id)).body.state, "done")
    ids.add((await set(dev.headers, "two")).id)
    assert.strictEqual(ids.size, 5)
    assert.strictEqual((await one.protect({ needed: 2 })).status, 200)
    ids.add((await set(dev.headers, "two")).id)
    assert.strictEqual(ids.size, 6)
  })

  it("is compared as a whole, also where it begins the same", async () => {
    const { propose, protectedOne } = world
    const { dev, prod } = await protectedOne()
    const long = "x".repeat(60_000)
    const ask = (last: string) =>
      propose(dev.headers, "PATCH", `${prod}/bundle`, { set: { A: long, B: long, C: long, D: last } })
    const first = await ask("one")
    assert.notStrictEqual((await ask("two")).id, first.id)
    assert.strictEqual((await ask("one")).id, first.id)
  })
})

describe("a request that nobody but its requester could vote on", () => {
  it("is refused when it is asked for, with what has to change first", async () => {
    const { call, organization } = world
    const one = await organization()
    const { admin, dev, org, other, owner, prod } = one
    for (const { member } of [admin, other]) {
      assert.strictEqual((await call(owner.headers, "DELETE", member)).status, 204)
    }
    // An owner could change it at once, so the protection is allowed.
    assert.strictEqual((await one.protect({ approvers: [owner.email], break_glass: [owner.email] })).status, 200)
    const change = (headers: typeof dev.headers, more = {}) =>
      call({ ...headers, ...more }, "PUT", `${prod}/secrets/A`, { value: "two" })
    for (const more of [{}, { prefer: "respond-async" }]) {
      const { body, status } = await change(owner.headers, more)
      assert.deepStrictEqual([status, body.error.code], [409, "APPROVAL_REQUIRED"])
      assert.match(
        body.error.message,
        /too few people could give the vote that webshop\/prod needs .* your own does not count/
      )
      assert.match(body.error.message, /First let more people vote/)
    }
    assert.deepStrictEqual((await call(owner.headers, "GET", `${org}/requests`)).body.data, [])
    // The owner votes on what others ask for.
    assert.strictEqual((await change(dev.headers, { prefer: "respond-async" })).status, 202)
  })

  it("is refused for access too, also where one's own vote counts for changes", async () => {
    const { call, protectedOne } = world
    const one = await protectedOne({ approvers: ["nobody@example.com"], break_glass: [] }).catch(() => null)
    assert.isNull(one)
    const { admin, org, owner, other, guest, prod, protect } = await world.organization()
    assert.strictEqual((await protect({ approvers: [guest.email], self: true })).status, 200)
    const ask = (headers: typeof guest.headers) =>
      call(headers, "POST", `${org}/requests`, {
        kind: "access",
        project: "webshop",
        env: "prod",
        permission: "read",
        expires_in: 3_600,
        reason: "INC-12"
      })
    const refused = await ask(guest.headers)
    assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "CONFLICT"], JSON.stringify(refused.body))
    assert.match(refused.body.error.message, /too few people could give the vote/)
    assert.isString(prod)
    assert.isDefined([admin, owner, other])
  })
})
