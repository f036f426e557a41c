import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type Answer, assertRefused, type Json } from "../support/Program.js"
import { type Caller, type Person, type Role, Service, word } from "./Service.js"

let service: Service
let ada: Person
let name: string
let org: string

const roles = ["member", "developer", "admin", "owner"] as const

beforeAll(async () => {
  service = await Service.start({ SUPERADMIN_EMAIL_0: "root@example.com" })
  ada = await service.person("ada@example.com")
})

afterAll(async () => {
  await service.remove()
})

beforeEach(async () => {
  name = `org-${word()}`
  org = `/api/orgs/${name}`
  await service.do(ada, "POST", "/api/orgs", { name })
})

const invite = async (caller: Caller, email: string, role?: string) =>
  service.call(caller, "POST", `${org}/members`, { body: { email, ...(role !== undefined && { role }) } })

const setRole = async (caller: Caller, { id }: { readonly id: string }, role: string) =>
  service.call(caller, "PATCH", `${org}/members/${id}`, { body: { role } })

const remove = async (caller: Caller, { id }: { readonly id: string }) =>
  service.call(caller, "DELETE", `${org}/members/${id}`)

const members = async (caller: Caller = ada): Promise<ReadonlyArray<Json>> =>
  (await service.do(caller, "GET", `${org}/members`)).data

const person = async (role: Role): Promise<Person> => service.member(ada, name, `${word()}@example.com`, role)

describe("an invitation", () => {
  it("makes a member, who has the role member when no role is given", async () => {
    const answer = await invite(ada, "Grace.Hopper@Example.com ")
    assert.strictEqual(answer.status, 201)
    const { created_at, user_id, ...rest } = answer.body
    assert.deepStrictEqual(rest, { email: "grace.hopper@example.com", name: "grace.hopper", role: "member" })
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    // Version 4: an age of a user is nobody's business.
    assert.match(user_id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    assert.deepInclude(await members(), { ...answer.body, accepted: false, has_access: false, last_seen_at: null })
  })

  it("makes the user, who finds the organization after the first login", async () => {
    const email = `${word()}@example.com`
    const { user_id } = (await invite(ada, email, "developer")).body
    const grace = await service.person(email)
    assert.strictEqual(grace.id, user_id)
    const { data } = await service.do(grace, "GET", "/api/orgs")
    assert.deepStrictEqual(
      data.map(({ name, role }: Json) => ({ name, role })),
      [{ name, role: "developer" }]
    )
  })

  it("of a member is a conflict, however the address is spelled, and changes nothing", async () => {
    await invite(ada, "twice@example.com", "developer")
    const before = await members()
    for (const email of ["twice@example.com", " TWICE@Example.COM"]) {
      assertRefused(await invite(ada, email, "admin"), 409, "CONFLICT", /twice@example\.com/)
    }
    assertRefused(await invite(ada, ada.email), 409, "CONFLICT")
    assert.deepStrictEqual(await members(), before)
  })

  it.each([
    ["an address that is none", { email: "not-an-address" }, /^email: /],
    ["two addresses", { email: "a@x <b@y>" }, /^email: /],
    ["a role that is none", { email: "a@example.com", role: "superadmin" }, /^role: /],
    ["no address", { role: "member" }, /^email: is required/],
    ["a null role", { email: "a@example.com", role: null }, /^role: /],
    ["an unknown field", { email: "a@example.com", roles: [] }, /^roles: /]
  ])("with %s is refused", async (_what, body, message) => {
    assertRefused(await service.call(ada, "POST", `${org}/members`, { body }), 400, "VALIDATION_ERROR", message)
    assert.strictEqual((await members()).length, 1)
  })

  it("that races with its like makes one member", async () => {
    const email = `${word()}@example.com`
    const answers = await Promise.all(Array.from({ length: 8 }, async () => invite(ada, email, "developer")))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409])
    assert.strictEqual((await members()).filter((member) => member.email === email).length, 1)
  })

  it("that races with a removal leaves a member or no member, and never a rule of the earlier membership", async () => {
    for (let round = 0; round < 10; round++) {
      const grace = await person("developer")
      await service.grant(ada, name, grace, "write")
      const [removed, invited] = await Promise.all([remove(ada, grace), invite(ada, grace.email, "developer")])
      assert.strictEqual(removed.status, 204)
      const isThere = (await members()).some(({ user_id }) => user_id === grace.id)
      assert.strictEqual(invited.status, isThere ? 201 : 409)
      const { data } = await service.do(ada, "GET", `${org}/acl`)
      assert.deepStrictEqual(data, [])
    }
  })
})

describe("among the roles", () => {
  const may: Readonly<Record<string, ReadonlyArray<string>>> = {
    member: [],
    developer: [],
    admin: ["member", "developer", "admin"],
    owner: roles,
    superadmin: roles
  }

  const callerOf = async (role: string): Promise<Person> =>
    role === "superadmin" ? service.person("root@example.com") : person(role as Role)

  it.each(Object.entries(may))("%s may invite and remove %j", async (role, allowed) => {
    const caller = await callerOf(role)
    for (const target of roles) {
      const isAllowed = allowed.includes(target)
      const invited = await invite(caller, `${word()}@example.com`, target)
      assert.strictEqual(invited.status, isAllowed ? 201 : 403, `${role} invites ${target}: ${invited.text}`)
      const victim = await person(target)
      const removed = await remove(caller, victim)
      assert.strictEqual(removed.status, isAllowed ? 204 : 403, `${role} removes ${target}: ${removed.text}`)
    }
  })

  it("only owners and superadmins change roles, also to what the caller is", async () => {
    for (const role of ["member", "developer", "admin"]) {
      const caller = await callerOf(role)
      const target = await person("member")
      for (const next of roles) assertRefused(await setRole(caller, target, next), 403, "FORBIDDEN", /the role owner/)
      // A caller cannot raise its own role.
      assertRefused(await setRole(caller, caller, "owner"), 403, "FORBIDDEN")
    }
    for (const role of ["owner", "superadmin"]) {
      const caller = await callerOf(role)
      const target = await person("member")
      for (const next of ["developer", "admin", "owner", "member"]) {
        const answer = await setRole(caller, target, next)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.body.role, next)
        assert.strictEqual(answer.body.user_id, target.id)
      }
    }
  })

  it("an admin who is demoted has no more than the new role with the next request", async () => {
    const admin = await person("admin")
    await service.do(ada, "POST", `${org}/projects`, { name: "web" })
    const secret = `${org}/projects/web/envs/prod/secrets/A`
    await service.do(admin, "PUT", secret, { value: "x" })
    const attempts = async () => [
      await service.status(admin, "POST", `${org}/projects`, { name: word() }),
      await service.status(admin, "GET", `${org}/audit-logs`),
      await service.status(admin, "PUT", secret, { value: "x" }),
      await service.status(admin, "GET", secret)
    ]
    await service.grant(ada, name, admin, "write")
    assert.deepStrictEqual(await attempts(), [201, 200, 200, 200])
    await setRole(ada, admin, "developer")
    assert.deepStrictEqual(await attempts(), [403, 403, 200, 200])
    await setRole(ada, admin, "member")
    assert.deepStrictEqual(await attempts(), [403, 403, 403, 200])
    await remove(ada, admin)
    assert.deepStrictEqual(await attempts(), [404, 404, 404, 404])
    await invite(ada, admin.email, "developer")
    assert.deepStrictEqual(await attempts(), [403, 403, 403, 403])
  })

  it("a change is recorded with what was before, and by whose right", async () => {
    const root = await service.person("root@example.com")
    const grace = await person("developer")
    await setRole(root, grace, "owner")
    const [entry] = await service.entries(ada, `${org}/audit-logs`, "org.member_role_update")
    assert.strictEqual(entry.resource_id, grace.id)
    const metadata = { email: grace.email, role: "owner", before: "developer", via: "superadmin" }
    assert.deepStrictEqual(entry.metadata, metadata)
  })
})

describe("a removal", () => {
  it("takes the member's rules along, so that a later invitation starts with nothing", async () => {
    await service.do(ada, "POST", `${org}/projects`, { name: "web" })
    const secret = `${org}/projects/web/envs/prod/secrets/A`
    await service.do(ada, "PUT", secret, { value: "x" })
    const grace = await person("developer")
    await service.grant(ada, name, grace, "admin")
    await service.grant(ada, name, grace, "read", "web", "prod")
    assert.strictEqual(await service.status(grace, "GET", secret), 200)
    assert.strictEqual((await remove(ada, grace)).status, 204)
    assert.strictEqual(await service.status(grace, "GET", secret), 404)
    assert.strictEqual(await service.status(grace, "GET", org), 404)
    assert.deepStrictEqual((await service.do(ada, "GET", `${org}/acl`)).data, [])
    const [entry] = await service.entries(ada, `${org}/audit-logs`, "org.member_remove")
    assert.deepStrictEqual(entry.metadata, {
      email: grace.email,
      role: "developer",
      rules_removed: 2,
      service_accounts: 0
    })

    await invite(ada, grace.email, "developer")
    assert.strictEqual(await service.status(grace, "GET", secret), 403)
    assert.deepStrictEqual((await service.do(ada, "GET", `${org}/acl`)).data, [])
  })

  it("leaves the rules of the same person in another organization", async () => {
    const other = `org-${word()}`
    await service.do(ada, "POST", "/api/orgs", { name: other })
    const grace = await person("developer")
    await service.do(ada, "POST", `/api/orgs/${other}/members`, { email: grace.email, role: "developer" })
    await service.grant(ada, name, grace, "read")
    await service.grant(ada, other, grace, "read")
    await remove(ada, grace)
    assert.strictEqual((await service.do(ada, "GET", `/api/orgs/${other}/acl`)).data.length, 1)
  })

  it("of who is not there is 404, and so is a second one", async () => {
    const grace = await person("member")
    assert.strictEqual((await remove(ada, grace)).status, 204)
    assertRefused(await remove(ada, grace), 404, "NOT_FOUND")
    assertRefused(await setRole(ada, grace, "admin"), 404, "NOT_FOUND")
    assertRefused(await remove(ada, { id: "0192f0c1-5b7e-4c3a-9d2e-4f6a8b0c1d2e" }), 404, "NOT_FOUND")
    assertRefused(await remove(ada, { id: "grace" }), 400, "VALIDATION_ERROR")
  })

  it("of oneself is open to admins and owners that are not the last", async () => {
    const admin = await person("admin")
    assert.strictEqual((await remove(admin, admin)).status, 204)
    const developer = await person("developer")
    assertRefused(await remove(developer, developer), 403, "FORBIDDEN")
  })
})

describe("the last owner", () => {
  it("cannot be removed or demoted by anybody", async () => {
    const root = await service.person("root@example.com")
    for (const caller of [ada, root]) {
      assertRefused(await remove(caller, ada), 409, "LAST_OWNER", new RegExp(name))
      for (const role of ["admin", "developer", "member"]) {
        assertRefused(await setRole(caller, ada, role), 409, "LAST_OWNER")
      }
    }
    assert.strictEqual((await setRole(ada, ada, "owner")).status, 200)
    assert.strictEqual((await members())[0].role, "owner")
  })

  it("may go once there is another", async () => {
    const grace = await person("owner")
    assert.strictEqual((await setRole(ada, ada, "member")).status, 200)
    assertRefused(await remove(grace, grace), 409, "LAST_OWNER")
    assert.strictEqual((await setRole(grace, ada, "owner")).status, 200)
    assert.strictEqual((await remove(grace, grace)).status, 204)
    assertRefused(await remove(ada, ada), 409, "LAST_OWNER")
  })

  const races: ReadonlyArray<readonly [string, number, (caller: Caller, target: Person) => Promise<Answer>]> = [
    ["demote each other", 200, async (caller, target) => setRole(caller, target, "admin")],
    ["remove each other", 204, remove],
    ["step down each by itself", 200, async (_caller, target) => setRole(target, target, "member")],
    ["leave", 204, async (_caller, target) => remove(target, target)]
  ]

  it.each(races)("is left in each of 20 rounds when two owners %s at once", async (_what, done, act) => {
    const grace = await person("owner")
    for (let round = 0; round < 20; round++) {
      const [first, second] = await Promise.all([act(ada, grace), act(grace, ada)])
      const statuses = [first.status, second.status]
      assert.strictEqual(statuses.filter((status) => status === done).length, 1, statuses.join())
      const [keeper, gone, late] = first.status === done ? [ada, grace, second] : [grace, ada, first]
      // The late one is told that it is about the last owner, or that it comes from an owner no more.
      assert.include([409, 403, 404], late.status, late.text)
      const owners = (await members(keeper)).filter((member) => member.role === "owner")
      assert.deepStrictEqual(
        owners.map((member) => member.user_id),
        [keeper.id]
      )
      const again = done === 204 ? await invite(keeper, gone.email, "owner") : await setRole(keeper, gone, "owner")
      assert.isBelow(again.status, 300, again.text)
    }
  })
})
