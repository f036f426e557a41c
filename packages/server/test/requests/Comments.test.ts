import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startWorld, type World } from "./World.js"

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const later = "not before the release: 12 of 30 are missing"

describe("a comment of a vote", () => {
  it("is shown with the vote, recorded, and may be left out with the whole body", async () => {
    const { call, logOf, propose, protectedOne } = world
    const one = await protectedOne({ needed: 2 })
    const { admin, dev, org, other, prod } = one
    const { id } = await propose(dev.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    const approved = await call(other.headers, "POST", `${org}/requests/${id}/approve`)
    assert.strictEqual(approved.status, 200, JSON.stringify(approved.body))
    assert.notProperty(approved.body.votes[0], "comment")
    const refused = await call(admin.headers, "POST", `${org}/requests/${id}/refuse`, { comment: later })
    assert.strictEqual(refused.status, 200, JSON.stringify(refused.body))
    const shown = (await call(dev.headers, "GET", `${org}/requests/${id}`)).body
    assert.deepStrictEqual(
      shown.votes.map(({ by, comment, vote }: Record<string, string>) => [by, vote, comment]),
      [
        [other.email, "approve", undefined],
        [admin.email, "refuse", later]
      ]
    )
    const entry = (await logOf(one)).find(({ action }) => action === "request.refuse")
    assert.strictEqual(entry.metadata.comment, later)
  })

  it("is refused with several lines, controls of direction or more than 500 characters, and nothing is voted", async () => {
    const { call, propose, protectedOne } = world
    const one = await protectedOne({ needed: 1 })
    const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "two" })
    for (const comment of ["two\nlines", "turned \u202e", "x".repeat(501), " "]) {
      const answer = await call(one.admin.headers, "POST", `${one.org}/requests/${id}/refuse`, { comment })
      assert.strictEqual(answer.status, 400)
    }
    assert.strictEqual((await call(one.dev.headers, "GET", `${one.org}/requests/${id}`)).body.state, "pending")
  })
})

describe("a change that sends the record's ETag", () => {
  it("is refused where somebody else was faster, and nothing of theirs is lost; without one it is made", async () => {
    const { call, organization } = world
    const { org, owner, prod } = await organization()
    const as = (etag: string) => ({ ...owner.headers, "if-match": etag })
    const hook = (
      await call(owner.headers, "POST", `${org}/webhooks`, { url: "https://hooks.example.com/x", events: ["*"] })
    ).body
    await call(owner.headers, "POST", `${org}/service-accounts`, { name: "deploy" })
    const [account] = (await call(owner.headers, "GET", `${org}/service-accounts`)).body.data
    const terms = { needed: 1, approvers: "admins" }
    const protection = (await call(owner.headers, "PUT", `${prod}/protection`, terms)).body
    const records = [
      ["PATCH", `${org}/webhooks/${hook.id}`, hook.etag, { events: ["secret.*"] }, { events: ["member.*"] }],
      [
        "PATCH",
        `${org}/service-accounts/${account.id}`,
        account.etag,
        { allowed_networks: ["10.0.0.0/8"] },
        { allowed_networks: null }
      ],
      ["PUT", `${prod}/protection`, protection.etag, { ...terms, needed: 2 }, { ...terms, passkey: true }]
    ] as const
    for (const [method, path, etag, first, second] of records) {
      assert.match(etag, /^"[\w-]{27}"$/, path)
      const faster = await call(as(etag), method, path, first)
      assert.strictEqual(faster.status, 200, JSON.stringify(faster.body))
      const slower = await call(as(etag), method, path, second)
      assert.deepStrictEqual([slower.status, slower.body.error.code], [409, "CONFLICT"], path)
      assert.match(slower.body.error.message, /has changed since it was read/)
      assert.notStrictEqual(faster.body.etag, etag)
    }
    const removed = await call(as(protection.etag), "DELETE", `${prod}/protection`)
    assert.strictEqual(removed.status, 409)
    const old = await call(owner.headers, "PATCH", `${org}/webhooks/${hook.id}`, { events: ["member.*"] })
    assert.deepStrictEqual([old.status, old.body.events], [200, ["member.*"]])
  })
})
