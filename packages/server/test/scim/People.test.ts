import { query } from "@coffer/server/database/Query"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Pair } from "../authorization/Pair.js"
import { email, transaction } from "../support/Services.js"
import type { Json } from "../support/Program.js"
import { directoryOf, domain, patchOp, startDirectory, word } from "./World.js"

// People whom a directory manages, on two servers of one database.

const SubjectRow = Schema.Struct({ subject: Schema.String })

let pair: Pair

beforeAll(async () => {
  pair = await startDirectory()
})
afterAll(async () => {
  await pair.stop()
})

describe("the token of a directory", () => {
  it("is shown once, and is valid at its own organization alone", async () => {
    const one = await directoryOf(pair)
    const other = await directoryOf(pair)
    assert.match(one.token, /^svc_sc_/)
    assert.strictEqual((await one.scim("GET", "/Users")).status, 200)
    const { body, status } = await one.scim("GET", "/Users", undefined, { authorization: `Bearer ${other.token}` })
    assert.deepStrictEqual(
      [status, body.status, body.schemas],
      [401, "401", ["urn:ietf:params:scim:api:messages:2.0:Error"]]
    )
    const shown = await one.asOwner("GET", "/scim")
    assert.deepInclude(shown, { enabled: true, path: `/scim/v2/${one.org}`, domains: [domain], users: 0, groups: 0 })
    assert.notInclude(JSON.stringify(shown), one.token)
    assert.strictEqual((await one.try("POST", "/scim")).status, 409)
  })

  it("stays valid for 24 hours beside the next one, and ends at once with the one after", async () => {
    const { asOwner, scim, token } = await directoryOf(pair)
    const second = await asOwner("POST", "/scim/rotate")
    const [current, former] = second.tokens
    assert.closeTo(Date.parse(former.expires_at) - Date.now(), 24 * 3_600_000, 60_000)
    assert.isUndefined(current.expires_at)
    const by = async (text: string) =>
      (await scim("GET", "/Users", undefined, { authorization: `Bearer ${text}` })).status
    assert.deepStrictEqual([await by(token), await by(second.token)], [200, 200])
    const third = await asOwner("POST", "/scim/rotate")
    assert.deepStrictEqual([await by(token), await by(second.token), await by(third.token)], [401, 200, 200])
    await asOwner("DELETE", "/scim")
    assert.deepStrictEqual([await by(second.token), await by(third.token)], [401, 401])
  })

  it("is made by owners alone, with an entry for each step", async () => {
    const directory = await directoryOf(pair)
    const admin = await pair.first.person(email(`${word()}@${domain}`))
    const me = await pair.first.do(admin.headers, "GET", "/api/auth/me")
    await directory.asOwner("POST", "/members", { email: me.email, role: "admin" })
    const asAdmin = (method: string, below: string) =>
      pair.first.send({ method, path: `${directory.at}${below}`, headers: admin.headers })
    assert.strictEqual((await asAdmin("GET", "/scim")).status, 200)
    for (const [method, below] of [
      ["POST", "/scim"],
      ["POST", "/scim/rotate"],
      ["DELETE", "/scim"]
    ] as const) {
      assert.strictEqual((await asAdmin(method, below)).status, 403, below)
    }
    await directory.asOwner("POST", "/scim/rotate")
    await directory.asOwner("DELETE", "/scim")
    for (const action of ["scim.enable", "scim.rotate", "scim.disable"]) {
      assert.lengthOf(await directory.entries(action), 1, action)
    }
  })
})

describe("a user of the directory", () => {
  it("is a member by the e-mail address, at once and without an invitation", async () => {
    const { add, entries, members, scim } = await directoryOf(pair)
    const made = await add("grace", {
      userName: "grace.h",
      externalId: "00u1",
      name: { givenName: "Grace", familyName: "Hopper" },
      emails: [
        { value: `home@${domain}`, type: "home" },
        { value: `Grace.Hopper@${domain}`, type: "work", primary: true }
      ],
      roles: [{ value: "developer" }]
    })
    assert.deepInclude(made, { userName: "grace.h", externalId: "00u1", active: true })
    assert.deepStrictEqual(made.roles, [{ value: "developer" }])
    const member = (await members()).find((one) => one.email === `grace.hopper@${domain}`)
    assert.deepInclude(member, { role: "developer" })
    const [entry] = await entries("org.member_invite")
    assert.deepInclude(entry, { actor_type: "system", actor_name: "SCIM" })
    const found = await scim("GET", `/Users?filter=${encodeURIComponent('userName eq "GRACE.H"')}`)
    assert.deepStrictEqual([found.body.totalResults, found.body.Resources[0].id], [1, made.id])
    const read = await scim("GET", `/Users/${made.id}`)
    assert.deepStrictEqual(read.body, made)
    assert.strictEqual(read.etag, made.meta.version)
  })

  it("is refused twice, of another domain, and as a superadmin", async () => {
    const { add, members, scim } = await directoryOf(pair)
    const made = await add()
    const again = await scim("POST", "/Users", { userName: made.userName.toUpperCase() })
    assert.deepStrictEqual([again.status, again.body.scimType], [409, "uniqueness"])
    const elsewhere = await scim("POST", "/Users", { userName: `${word()}@other.example.com` })
    assert.deepStrictEqual([elsewhere.status, elsewhere.body.status], [403, "403"])
    const root = await pair.first.do(pair.first.root, "GET", "/api/auth/me")
    const superadmin = await scim("POST", "/Users", { userName: root.email })
    assert.strictEqual(superadmin.status, 403)
    assert.lengthOf(await members(), 3)
  })

  it("loses the membership and all that stands on it when it is inactive, in the same moment", async () => {
    const { asOwner, at, members, person, setActive } = await directoryOf(pair)
    await asOwner("PUT", "/projects/webshop/envs/dev/secrets/KEY", { value: "plain-old-value" })
    const grace = await person()
    const rule = { subject_type: "user", email: grace.address, permission: "read" }
    await asOwner("POST", "/acl", { ...rule, project_pattern: "*", env_pattern: "dev" })
    const path = `${at}/projects/webshop/envs/dev/secrets/KEY`
    const read = (headers: Readonly<Record<string, string>>) => pair.first.send({ method: "GET", path, headers })
    const org = at.slice("/api/orgs/".length)
    const { token } = await pair.first.do(grace.headers, "POST", "/api/auth/delegations", {
      ...{ name: "agent", org, project: "webshop", env: "dev", permission: "read", expires_in: 3_600 }
    })
    const delegated = { authorization: `Bearer ${token}` }
    assert.deepStrictEqual([(await read(grace.headers)).status, (await read(delegated)).status], [200, 200])
    const ended = await setActive(grace.scimId, "False")
    assert.deepStrictEqual([ended.status, ended.body.active, ended.body.roles], [200, false, undefined])
    assert.deepStrictEqual([(await read(grace.headers)).status, (await read(delegated)).status], [404, 401])
    assert.notInclude(
      (await members()).map((one) => one.email),
      grace.address
    )
    // Back with the rules by hand; the delegation has ended for good.
    const back = await setActive(grace.scimId, "True")
    assert.strictEqual(back.body.active, true)
    assert.deepStrictEqual([(await read(grace.headers)).status, (await read(delegated)).status], [200, 401])
  })

  it("comes back after its end and a new beginning, but not after an invitation by hand", async () => {
    const { add, asOwner, entries, members, scim } = await directoryOf(pair)
    const made = await add("back", { roles: ["developer"] })
    const rule = { subject_type: "user", email: made.userName, permission: "write" }
    await asOwner("POST", "/acl", { ...rule, project_pattern: "web*", env_pattern: "*" })
    await asOwner("POST", "/groups", { name: "by hand" })
    await asOwner("POST", "/groups/by%20hand/members", { email: made.userName })
    assert.strictEqual((await scim("DELETE", `/Users/${made.id}`)).status, 204)
    assert.strictEqual((await scim("GET", `/Users/${made.id}`)).status, 404)
    const again = await add("back")
    assert.notStrictEqual(again.id, made.id)
    assert.deepStrictEqual(again.roles, [{ value: "developer" }])
    const [entry] = await entries("org.member_invite")
    assert.deepInclude(entry!.metadata, { rules_restored: 1, groups_restored: 1 })
    assert.strictEqual((await asOwner("GET", "/groups/by%20hand")).members, 1)

    await scim("DELETE", `/Users/${again.id}`)
    const byHand = await asOwner("POST", "/members", { email: made.userName })
    await asOwner("DELETE", `/members/${byHand.user_id}`)
    const third = await add("back")
    assert.isUndefined(third.roles)
    assert.deepStrictEqual((await asOwner("GET", "/acl")).data, [])
    assert.lengthOf(await members(), 3)
  })

  it("has its rules for some keys, and those that deny, as they were when it is active again", async () => {
    const { add, asOwner, setActive } = await directoryOf(pair)
    const { id, userName } = await add()
    const about = { subject_type: "user", email: userName, project_pattern: "webshop" }
    const rules = [
      { ...about, env_pattern: "*", permission: "write", key_pattern: "DB_*" },
      { ...about, env_pattern: "prod", permission: "use", key_pattern: "DB_ROOT*", denies: true },
      { ...about, env_pattern: "dev", permission: "read", expires_at: "2030-01-01T00:00:00.000Z" }
    ]
    for (const rule of rules) await asOwner("POST", "/acl", rule)
    const before = (await asOwner("GET", "/acl")).data
    assert.lengthOf(before, rules.length)
    await setActive(id, false)
    assert.deepStrictEqual((await asOwner("GET", "/acl")).data, [])
    await setActive(id, true)
    const after = (await asOwner("GET", "/acl")).data
    assert.deepStrictEqual(
      after.map(({ id: _id, updated_at: _updated, ...kept }: Json) => kept),
      before.map(({ id: _id, updated_at: _updated, ...kept }: Json) => kept)
    )
  })

  it("has its rules and groups by hand back for 30 days after the end, and not a second longer", async () => {
    const { add, asOwner, org, setActive } = await directoryOf(pair)
    await asOwner("POST", "/groups", { name: "by hand" })
    const day = 24 * 3_600_000
    const days = 30 * day
    for (const [age, isKept] of [
      [days - 60_000, true],
      [days, false]
    ] as const) {
      const { id, userName } = await add()
      const rule = { subject_type: "user", email: userName, permission: "write" }
      await asOwner("POST", "/acl", { ...rule, project_pattern: "web*", env_pattern: "*" })
      await asOwner("POST", "/groups/by%20hand/members", { email: userName })
      await setActive(id, false)
      // As if it had ended that long ago, by the database's clock.
      const moved = await pair.first.run(
        Effect.flatMap(query, ({ returning }) =>
          transaction(
            returning(SubjectRow)`
              UPDATE scim_endings SET expires_at = expires_at - ${"age"}
              WHERE email = ${"email"} AND org_id = (SELECT id FROM organizations WHERE name = ${"org"})
              RETURNING email AS subject`({ age, email: userName, org })
          )
        )
      )
      assert.lengthOf(moved, 1)
      await setActive(id, true)
      const rules = (await asOwner("GET", "/acl")).data.filter((one: Json) => one.email === userName)
      assert.lengthOf(rules, isKept ? 1 : 0, `${age} ms`)
      const { members } = await asOwner("GET", "/groups/by%20hand")
      assert.strictEqual(members, 1, `${age} ms`)
    }
  })

  it("stays as the last owner, of which the owners get a mail", async () => {
    const { add, asOwner, members, ownerEmail, scim, setActive } = await directoryOf(pair)
    const root = await pair.first.do(pair.first.root, "GET", "/api/auth/me")
    const rootMember = (await members()).find((one) => one.email === root.email)
    await asOwner("DELETE", `/members/${rootMember!.user_id}`)
    const { id } = await add(ownerEmail.split("@")[0])
    const refused = await setActive(id, false)
    assert.deepStrictEqual([refused.status, refused.body.status], [409, "409"])
    assert.strictEqual((await scim("DELETE", `/Users/${id}`)).status, 409)
    const [only] = await members()
    assert.deepInclude(only, { email: ownerEmail, role: "owner" })
    assert.strictEqual((await scim("GET", `/Users/${id}`)).body.active, true)
    assert.strictEqual((await asOwner("GET", "/scim")).users, 1)
    // One mail for both refusals: a directory tries again for ever.
    const mails = await pair.first.run(
      Effect.flatMap(query, ({ all }) =>
        all(SubjectRow)`SELECT subject FROM rate_events WHERE kind = 'scim.still_needed' AND subject LIKE ${"like"}`({
          like: `%${ownerEmail}`
        })
      )
    )
    assert.lengthOf(mails, 1)
  })

  it("is never made an owner, nor an owner anything else", async () => {
    const { add, ownerEmail, scim } = await directoryOf(pair)
    const refused = await scim("POST", "/Users", { userName: `x@${domain}`, roles: [{ value: "owner" }] })
    assert.deepStrictEqual([refused.status, refused.body.scimType], [400, "invalidValue"])
    const adopted = await add(ownerEmail.split("@")[0], { roles: [{ value: "member" }] })
    assert.deepStrictEqual(adopted.roles, [{ value: "owner" }])
  })

  it("of another organization is unknown", async () => {
    const [one, other] = [await directoryOf(pair), await directoryOf(pair)]
    const { id } = await one.add()
    for (const [method, body] of [
      ["GET", undefined],
      ["PUT", { userName: `y@${domain}` }],
      ["PATCH", { schemas: [patchOp], Operations: [{ op: "replace", path: "active", value: false }] }],
      ["DELETE", undefined]
    ] as const) {
      assert.strictEqual((await other.scim(method, `/Users/${id}`, body)).status, 404, method)
    }
    assert.strictEqual((await one.scim("GET", `/Users/${id}`)).body.active, true)
  })

  it("changes only in the state that was read, if the request names one", async () => {
    const { add, scim } = await directoryOf(pair)
    const made = await add()
    const change = (ifMatch: string, displayName: string) =>
      scim("PUT", `/Users/${made.id}`, { userName: made.userName, displayName }, { "if-match": ifMatch })
    const first = await change(made.meta.version, "One")
    assert.strictEqual(first.status, 200)
    assert.strictEqual((await change(made.meta.version, "Two")).status, 412)
    // A repeat changes nothing, so the state stays the same.
    const again = await scim("PUT", `/Users/${made.id}`, { userName: made.userName, displayName: "One" })
    assert.deepStrictEqual(again.body, first.body)
  })
})
