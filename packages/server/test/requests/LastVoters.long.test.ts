import { Effect, Exit, Queue, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { mailServer, readText, type Received } from "../mail/Servers.js"
import type { Json } from "../support/Program.js"
import { startWorld, type Answer, type World } from "./World.js"

// An organization cannot be locked out of its own protected environment, by a person who protects it or by one who leaves.

const scope = Effect.runSync(Scope.make())
let world: World
let queue: Queue.Queue<Received>

beforeAll(async () => {
  const { port, received } = await Effect.runPromise(Scope.extend(mailServer(), scope))
  queue = received
  world = await startWorld({ SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), SMTP_FROM: "coffer@example.com" })
})
afterAll(async () => {
  await world.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Waits for a mail to a person. */
const mailed = async (to: string, what: RegExp): Promise<string> => {
  for (;;) {
    const mail = await Effect.runPromise(Effect.timeout(Queue.take(queue), "20 seconds"))
    const text = readText(mail)
    if (mail.to.includes(to) && what.test(text)) return text
  }
}

const refused = ({ body, status }: Answer, code = "CONFLICT"): string => {
  assert.deepStrictEqual([status, body?.error?.code], [409, code], JSON.stringify(body))
  return body.error.message
}

const done = ({ body, status }: Answer): Json => {
  assert.include([200, 201, 204], status, JSON.stringify(body))
  return body
}

/** An organization whose only owner is `owner`: its founder, a superadmin, has left it. */
const ownedByOne = async () => {
  const one = await world.organization()
  const { data } = done(await world.call(one.owner.headers, "GET", `${one.org}/members`))
  const known = [one.owner, one.admin, one.other, one.dev, one.guest].map(({ email }) => email)
  const root = data.find(({ email }: Json) => !known.includes(email))
  done(await world.call(one.owner.headers, "DELETE", `${one.org}/members/${root.user_id}`))
  return one
}

describe("a protection", () => {
  it("that its only owner could never end is refused, and the refusal names the ways out", async () => {
    const { call } = world
    const one = await ownedByOne()
    const { admin, owner, prod } = one
    const locking = { approvers: "owners" }
    const message = refused(await one.protect(locking))
    for (const way of ["Invite somebody", "--self", "--may-break-glass"]) assert.include(message, way)
    refused(await one.protect({ approvers: [owner.email] }))
    refused(await one.protect({ approvers: [owner.email, admin.email], needed: 2 }))
    refused(await one.protect({ approvers: "owners", break_glass: [admin.email] }))
    assert.strictEqual((await call(owner.headers, "GET", `${prod}/protection`)).status, 404)
    // Each way out that it names is one.
    done(await one.protect({ ...locking, self: true }))
    const ended = await world.propose(owner.headers, "DELETE", `${prod}/protection`)
    assert.strictEqual((await world.vote(one, owner.headers, ended.id)).body.state, "done")
    done(await one.protect({ ...locking, break_glass: [owner.email] }))
    const glass = { ...owner.headers, "x-coffer-break-glass": "INC-12" }
    done(await call(glass, "DELETE", `${prod}/protection`))
    done(await call(owner.headers, "PATCH", admin.member, { role: "owner" }))
    done(await one.protect(locking))
  })

  it("names the people whose own changes could not get the votes, to owners", async () => {
    const { call } = world
    const one = await ownedByOne()
    const { admin, dev, guest, owner, prod } = one
    const named = (answer: Answer) => done(answer).without_voters
    assert.deepStrictEqual(named(await one.protect({ approvers: [admin.email] })), [admin.email])
    const shown = await call(owner.headers, "GET", `${prod}/protection`)
    assert.deepStrictEqual([named(shown), shown.body.stuck], [[admin.email], undefined])
    assert.isUndefined(named(await call(guest.headers, "GET", `${prod}/protection`)))
    // Somebody who writes nothing there, and votes, has no change of an own.
    const staging = `${one.project}/envs/staging/protection`
    const terms = { needed: 2, approvers: [dev.email, guest.email] }
    assert.deepStrictEqual(named(await call(owner.headers, "PUT", staging, terms)), [dev.email])
    const enough = { needed: 1, approvers: [dev.email, guest.email] }
    const dev1 = `${one.project}/envs/dev/protection`
    assert.isUndefined(named(await call(owner.headers, "PUT", dev1, enough)))
  })
})

describe("the last other voter", () => {
  it("does not leave and is not demoted before somebody else can vote", async () => {
    const { call } = world
    const one = await ownedByOne()
    const { admin, dev, other, owner } = one
    done(await one.protect({ approvers: "admins", needed: 2 }))
    assert.include(
      refused(await call(owner.headers, "DELETE", admin.member)),
      `without ${admin.email}, nobody could end`
    )
    assert.include(refused(await call(owner.headers, "PATCH", other.member, { role: "member" })), "webshop/prod")
    // A change that takes no vote away is done. Once somebody else has a vote, every change is.
    done(await call(owner.headers, "PATCH", dev.member, { role: "member" }))
    done(await call(owner.headers, "PATCH", dev.member, { role: "admin" }))
    done(await call(owner.headers, "DELETE", admin.member))
    refused(await call(owner.headers, "DELETE", other.member))
  })

  it("does not leave at the same time as the voter before", async () => {
    const { call, first, second } = world
    for (let round = 0; round < 6; round++) {
      const one = await ownedByOne()
      const { admin, other, owner } = one
      done(await one.protect({ approvers: [admin.email, other.email] }))
      const leave = () => call(owner.headers, "DELETE", admin.member, undefined, first)
      const demote = () => call(owner.headers, "DELETE", other.member, undefined, second)
      const both = await (round % 2 === 0 ? Promise.all([leave(), demote()]) : Promise.all([demote(), leave()]))
      assert.deepStrictEqual(both.map(({ status }) => status).sort(), [204, 409])
    }
  })

  it("is disabled all the same: the owners are told, and a superadmin ends what nobody could vote on", async () => {
    const { call, first, logOf } = world
    const one = await ownedByOne()
    const { admin, org, owner, prod } = one
    done(await one.protect({ approvers: [admin.email] }))
    // A superadmin has no way round votes that people could give.
    const glass = { ...first.root, "x-coffer-break-glass": "nobody%20is%20left" }
    assert.strictEqual((await call(glass, "DELETE", `${prod}/protection`)).status, 403)
    const id = admin.member.slice(admin.member.lastIndexOf("/") + 1)
    done(await call(first.root, "POST", `/api/users/${id}/disable`))
    const text = await mailed(owner.email, /Nobody could give the votes that these/)
    assert.include(text, "webshop/prod")
    assert.isTrue(done(await call(owner.headers, "GET", `${prod}/protection`)).stuck)
    const asked = await call({ ...first.root, prefer: "respond-async" }, "DELETE", `${prod}/protection`)
    assert.include(refused(asked, "APPROVAL_REQUIRED"), "as a superadmin you may do this at once")
    // Not even a superadmin changes a secret there.
    assert.strictEqual((await call(glass, "PUT", `${prod}/secrets/A`, { value: "two" })).status, 403)
    refused(await call(first.root, "DELETE", org), "APPROVAL_REQUIRED")
    done(await call(glass, "DELETE", `${prod}/protection`))
    assert.include(await mailed(owner.email, /without the votes that it needs/), "nobody is left")
    assert.include(
      (await logOf(one)).map(({ action }) => action),
      "secret.break_glass"
    )
    done(await call(owner.headers, "DELETE", org))
  })

  it("is no reason to keep an organization that nobody can vote in: a superadmin removes it", async () => {
    const { call, first } = world
    const one = await ownedByOne()
    const { admin, org, owner, project } = one
    for (const env of ["prod", "staging", "dev"]) {
      const terms = { needed: 1, approvers: [admin.email] }
      done(await call(owner.headers, "PUT", `${project}/envs/${env}/protection`, terms))
    }
    done(await call(first.root, "POST", `/api/users/${admin.member.slice(admin.member.lastIndexOf("/") + 1)}/disable`))
    done(await call({ ...first.root, "x-coffer-break-glass": "closed" }, "DELETE", org))
    assert.include(await mailed(owner.email, /without the votes that it needs/), "org.delete")
  })

  it("leaves while what needs the vote is removed: the owners are told after it came back, and a superadmin gets past it", async () => {
    const { call, first, propose, vote } = world
    const one = await ownedByOne()
    const { admin, owner, prod, project } = one
    const glass = { ...first.root, "x-coffer-break-glass": "the%20voter%20has%20left" }
    done(await one.protect({ approvers: [admin.email] }))
    done(await vote(one, admin.headers, (await propose(owner.headers, "DELETE", prod)).id))
    const removed = async (trash: string, name: string): Promise<Json> =>
      done(await call(first.root, "GET", `${trash}?name=${name}`)).data[0]
    const { id } = await removed(`${project}/trash`, "prod")
    // While the vote can be given, a superadmin has no way round it.
    assert.strictEqual((await call(glass, "POST", `${project}/trash/${id}/restore`, {})).status, 403)
    done(await call(owner.headers, "DELETE", admin.member))
    refused(await call(owner.headers, "POST", `${project}/trash/${id}/restore`, {}), "APPROVAL_REQUIRED")
    done(await call(glass, "POST", `${project}/trash/${id}/restore`, {}))
    assert.include(await mailed(owner.email, /Nobody could give the votes that these/), "webshop/prod")
    done(await call(glass, "DELETE", prod))
    const again = await removed(`${project}/trash`, "prod")
    refused(
      await call(owner.headers, "POST", `${project}/trash/${again.id}/erase`, { name: "prod" }),
      "APPROVAL_REQUIRED"
    )
    done(await call(glass, "POST", `${project}/trash/${again.id}/erase`, { name: "prod" }))
  })

  it("leaves no restored organization locked in silence: its owners are told", async () => {
    const { call, first, propose, vote } = world
    const one = await ownedByOne()
    const { admin, org, owner, project } = one
    done(await one.protect({ approvers: [admin.email] }))
    done(await vote(one, admin.headers, (await propose(owner.headers, "DELETE", org)).id))
    done(await call(first.root, "POST", `/api/users/${admin.member.slice(admin.member.lastIndexOf("/") + 1)}/disable`))
    const { data } = done(await call(owner.headers, "GET", `/api/trash?name=${org.slice("/api/orgs/".length)}`))
    done(await call(owner.headers, "POST", `/api/trash/${data[0].id}/restore`, {}))
    assert.include(await mailed(owner.email, /Nobody could give the votes that these/), "webshop/prod")
    assert.isTrue(done(await call(owner.headers, "GET", `${project}/envs/prod/protection`)).stuck)
  })
})
