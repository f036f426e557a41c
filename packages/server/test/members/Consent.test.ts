import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { rootEmail, sceneSettings } from "../authorization/Scene.js"
import { people, word } from "../authorization/Service.js"
import { publicUrl } from "../federations/Signer.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { passkeysOf } from "../support/SoftAuthenticator.js"
import { newSession } from "../support/NewSession.js"
import { UserId } from "@coffer/domain/base/Ids"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { now } from "@coffer/server/base/Time"
import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { Effect } from "effect"

// Whoever is put into an organization is bound to nothing by it, and can leave it. On PostgreSQL, two servers take the calls.

let pair: Pair

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_ORG_CREATION: "anyone" })
})

afterAll(async () => {
  await pair.stop()
})

type Headers = Readonly<Record<string, string>>

const call = async (headers: Headers, method: string, path: string, body?: unknown) => {
  const { status, text } = await pair.second.send({ method, path, headers, body })
  const json: Json = text.startsWith("{") ? JSON.parse(text) : undefined
  return { status, code: (json?.error?.code ?? status) as string | number, message: String(json?.error?.message), json }
}

const someone = async () => {
  const address = `${word()}@example.com`
  const { headers, id } = await pair.first.person(email(address))
  return { address, headers, id }
}
type Someone = Awaited<ReturnType<typeof someone>>

/** An organization of a stranger. */
const organization = async (settings: object = {}) => {
  const owner = await someone()
  const name = `org-${word()}`
  const org = `/api/orgs/${name}`
  await pair.first.do(owner.headers, "POST", "/api/orgs", { name })
  if (Object.keys(settings).length > 0) await pair.first.do(owner.headers, "PATCH", org, settings)
  const invite = ({ address }: Someone, role = "developer") =>
    pair.first.do(owner.headers, "POST", `${org}/members`, { email: address, role })
  const listed = async ({ address }: Someone): Promise<Json> =>
    (await pair.first.do(owner.headers, "GET", `${org}/members`)).data.find((one: Json) => one.email === address)
  const removals = async (): Promise<ReadonlyArray<Json>> =>
    (await pair.first.do(owner.headers, "GET", `${org}/audit-logs?action=org.member_remove`)).data
  return { invite, listed, name, org, owner, removals }
}

/** A session of a person after a login without the passkey. */
const loginOf = async ({ id }: Someone) => {
  const { row, token } = newSession(UserId.make(id), new Date().toISOString(), "login")
  await pair.first.run(
    Effect.flatMap(Effect.all([Database, authRepo]), ([{ transaction }, repo]) => transaction(repo.insertSession(row)))
  )
  return people(token)
}

/** Notes that a person used the server just now, as a session's first request in a minute does. */
const seen = (id: string) =>
  Effect.gen(function* () {
    const { transaction } = yield* Database
    const { write } = yield* query
    yield* transaction(write`UPDATE users SET last_seen_at = ${"now"} WHERE id = ${"id"}`({ id, now: yield* now }))
  })

describe("a person whom a stranger put into an organization", () => {
  it("recovers from a lost passkey, until a first call there has accepted its rule", async () => {
    const victim = await someone()
    const passkeys = passkeysOf((...sent) => pair.first.do(victim.headers, ...sent), publicUrl)
    for (const name of ["first", "second"]) await passkeys.register(name)
    const { data } = await pair.first.do(victim.headers, "GET", "/api/auth/passkeys")
    const { invite, name, org } = await organization({ passkey_recovery: "none" })
    await invite(victim)
    const login = await loginOf(victim)
    // The console makes this call before the person opens the organization.
    const orgs = (await call(login, "GET", "/api/orgs")).json.data
    assert.deepInclude(
      orgs.find((one: Json) => one.name === name),
      { role: "developer", accepted: false }
    )
    assert.strictEqual((await call(login, "DELETE", `/api/auth/passkeys/${data[0].id}`)).code, 204)

    assert.strictEqual((await call(victim.headers, "GET", `${org}/projects`)).status, 200)
    assert.isUndefined((await call(login, "GET", "/api/orgs")).json.data[0].accepted)
    const refused = await call(login, "DELETE", `/api/auth/passkeys/${data[1].id}`)
    assert.strictEqual(refused.code, "FORBIDDEN")
    assert.include(refused.message, `organization ${name} `)
  })

  it("is bound to nothing by a page that reads ahead, and the refusal is not recorded", async () => {
    const victim = await someone()
    const { invite, listed, org, owner } = await organization()
    await invite(victim)
    const ahead = { ...victim.headers, purpose: "prefetch" }
    for (const path of [org, `${org}/projects`, `${org}/members`]) {
      assert.strictEqual((await call(ahead, "GET", path)).code, "NOT_FOUND")
    }
    assert.isFalse((await listed(victim)).accepted)
    const { data } = await pair.first.do(owner.headers, "GET", `${org}/audit-logs?action=access.denied`)
    assert.deepStrictEqual(data, [])

    await call(victim.headers, "GET", `${org}/projects`)
    assert.isTrue((await listed(victim)).accepted)
    assert.strictEqual((await call(ahead, "GET", `${org}/projects`)).status, 200)
  })

  it("is not shown to it as of when they were seen elsewhere", async () => {
    const victim = await someone()
    await pair.first.run(seen(victim.id))
    const { invite, listed, org } = await organization()
    await invite(victim)
    assert.deepInclude(await listed(victim), { accepted: false, last_seen_at: null })
    await call(victim.headers, "GET", org)
    const after = await listed(victim)
    assert.isTrue(after.accepted)
    assert.isString(after.last_seen_at)
  })

  it("does not accept the invitation by a refused call or by declining it", async () => {
    const victim = await someone()
    const { invite, listed, org, owner } = await organization()
    await invite(victim, "member")
    assert.strictEqual((await call(victim.headers, "DELETE", org)).code, "FORBIDDEN")
    assert.isFalse((await listed(victim)).accepted)
    assert.strictEqual((await call(victim.headers, "DELETE", `${org}/members/me`)).code, 204)
    await pair.first.do(owner.headers, "POST", `${org}/members`, { email: victim.address })
    assert.isFalse((await listed(victim)).accepted)
  })
})

describe("a member who leaves", () => {
  it("takes along what a removal takes, and the log says that nobody else did it", async () => {
    const { invite, listed, org, owner, removals } = await organization()
    const ada = await someone()
    await invite(ada)
    const rule = {
      subject_type: "user",
      email: ada.address,
      project_pattern: "*",
      env_pattern: "*",
      permission: "read"
    }
    await pair.first.do(owner.headers, "POST", `${org}/acl`, rule)
    await pair.first.do(owner.headers, "POST", `${org}/groups`, { name: "backend" })
    await pair.first.do(owner.headers, "POST", `${org}/groups/backend/members`, { email: ada.address })
    assert.strictEqual((await call(ada.headers, "DELETE", `${org}/members/me`)).code, 204)
    assert.strictEqual((await call(ada.headers, "GET", org)).code, "NOT_FOUND")
    assert.strictEqual((await call(ada.headers, "DELETE", `${org}/members/me`)).code, "NOT_FOUND")
    const [entry] = await removals()
    assert.deepInclude(entry, { actor_id: ada.id, resource_id: ada.id })
    assert.deepInclude(entry.metadata, { email: ada.address, rules_removed: 1, groups_left: 1, left: true })
    await invite(ada)
    assert.isFalse((await listed(ada)).has_access)
  })

  it("is not the last owner, nor the last one who accepted to be one", async () => {
    const { invite, org, owner } = await organization()
    const leave = (who: Someone) => call(who.headers, "DELETE", `${org}/members/me`)
    const bea = await someone()
    assert.strictEqual((await leave(owner)).code, "LAST_OWNER")
    await invite(bea, "owner")
    const refused = await leave(owner)
    assert.strictEqual(refused.code, "LAST_OWNER")
    assert.match(refused.message, /no other owner of organization .* has accepted the invitation yet/)
    // Nor by the calls about any member.
    const own = `${org}/members/${owner.id}`
    assert.strictEqual((await call(owner.headers, "DELETE", own)).code, "LAST_OWNER")
    assert.strictEqual((await call(owner.headers, "PATCH", own, { role: "admin" })).code, "LAST_OWNER")
    await call(bea.headers, "GET", org)
    assert.strictEqual((await leave(owner)).code, 204)
    assert.strictEqual((await leave(bea)).code, "LAST_OWNER")
  })
})

describe("an invited owner or voter", () => {
  /** An organization with an environment, and one who votes there. */
  const withVoter = async () => {
    const one = await organization()
    await pair.first.do(one.owner.headers, "POST", `${one.org}/projects`, { name: "webshop" })
    const bea = await someone()
    await one.invite(bea, "admin")
    const protection = `${one.org}/projects/webshop/envs/prod/protection`
    const protect = (terms: object) =>
      call(one.owner.headers, "PUT", protection, { needed: 1, approvers: "admins", ...terms })
    return { ...one, bea, protect, protection }
  }

  it("counts for no protection before they have accepted, and the refusal names them", async () => {
    const { bea, org, owner, protect, protection } = await withVoter()
    const refused = await protect({})
    assert.strictEqual(refused.code, "CONFLICT")
    assert.include(refused.message, "nobody could end the protection")
    assert.include(refused.message, `accepted the invitation: ${bea.address}`)
    const few = await protect({ needed: 2 })
    assert.match(few.message, /2 people have to approve, .* has 1 admins: .* accepted the invitation: /)
    // To be named is no vote.
    assert.strictEqual((await protect({ self: true, break_glass: [bea.address, owner.address] })).code, 200)
    await call(owner.headers, "DELETE", protection)
    await call(bea.headers, "GET", org)
    assert.strictEqual((await protect({})).code, 200)
  })

  it("does not let the last one who votes leave", async () => {
    const { bea, invite, org, protect } = await withVoter()
    await call(bea.headers, "GET", org)
    assert.strictEqual((await protect({})).code, 200)
    const cleo = await someone()
    await invite(cleo, "admin")
    const refused = await call(bea.headers, "DELETE", `${org}/members/me`)
    assert.strictEqual(refused.code, "CONFLICT")
    assert.include(refused.message, `without ${bea.address}, nobody could end`)
    // Whoever has not accepted may always decline.
    assert.strictEqual((await call(cleo.headers, "DELETE", `${org}/members/me`)).code, 204)
    await invite(cleo, "admin")
    await call(cleo.headers, "GET", org)
    assert.strictEqual((await call(bea.headers, "DELETE", `${org}/members/me`)).code, 204)
  })

  it("does not accept as a superadmin, who owns nothing by looking after it", async () => {
    const { listed, org, owner } = await organization()
    await pair.first.do(owner.headers, "POST", `${org}/members`, { email: rootEmail, role: "member" })
    // A call that a member may not make.
    assert.strictEqual((await call(pair.first.root, "GET", `${org}/audit-logs`)).code, 200)
    const root = await someone()
    assert.isFalse((await listed({ ...root, address: rootEmail })).accepted)
    assert.strictEqual((await call(pair.first.root, "GET", `${org}/projects`)).code, 200)
    assert.isTrue((await listed({ ...root, address: rootEmail })).accepted)
  })

  it("may be left alone by a superadmin, who hands an organization over", async () => {
    const { invite, org, owner } = await organization()
    const bea = await someone()
    await invite(bea, "owner")
    assert.strictEqual((await call(pair.first.root, "DELETE", `${org}/members/${owner.id}`)).code, 204)
    assert.strictEqual((await call(bea.headers, "DELETE", `${org}/members/me`)).code, "LAST_OWNER")
  })
})

describe("the people of an archive", () => {
  const nothing = { projects: 0, environments: 0, secrets: 0, versions: 0, use_rules: 0, declared: 0 }

  it("have accepted nothing but the importer, whatever the archive says", async () => {
    const importer = await someone()
    const victim = await someone()
    const name = `org-${word()}`
    const lines = [{ passkey_recovery: "none" }, { members: { email: victim.address, role: "owner" } }]
      .map((line) => JSON.stringify(line))
      .join("\n")
    const made = await pair.first.do(importer.headers, "POST", "/api/imports", { name, organization: lines })
    await pair.first.do(importer.headers, "POST", `/api/imports/${made.id}/finish`, { counts: nothing })
    const { data } = await pair.first.do(importer.headers, "GET", `/api/orgs/${name}/members`)
    assert.sameDeepMembers(
      data.map(({ accepted, email }: Json) => [email, accepted]),
      [
        [victim.address, false],
        [importer.address, true]
      ]
    )
    assert.deepInclude((await call(victim.headers, "GET", "/api/orgs")).json.data[0], { name, accepted: false })
  })
})

describe("at the same time, on two servers", () => {
  it("of two owners who leave, one stays", async () => {
    for (let round = 0; round < 6; round++) {
      const { invite, org, owner } = await organization()
      const bea = await someone()
      await invite(bea, "owner")
      await call(bea.headers, "GET", org)
      const sides = round % 2 === 0 ? [pair.first, pair.second] : [pair.second, pair.first]
      const statuses = await Promise.all(
        [owner, bea].map(async ({ headers }, index) => {
          const side = sides[index] ?? pair.first
          return (await side.send({ method: "DELETE", path: `${org}/members/me`, headers, body: undefined })).status
        })
      )
      assert.deepStrictEqual(statuses.sort(), [204, 409])
    }
  })

  it("a first call, a leave and a removal end the membership once, and do not accept a new invitation", async () => {
    for (let round = 0; round < 6; round++) {
      const { invite, listed, org, owner, removals } = await organization()
      const ada = await someone()
      await invite(ada)
      const all = [
        { as: ada.headers, method: "GET", path: `${org}/projects` },
        { as: ada.headers, method: "DELETE", path: `${org}/members/me` },
        { as: owner.headers, method: "DELETE", path: `${org}/members/${ada.id}` }
      ]
      const sent = await Promise.all(
        all.map(async ({ as: headers, method, path }, index) => {
          const side = (index + round) % 2 === 0 ? pair.first : pair.second
          return (await side.send({ method, path, headers, body: undefined })).status
        })
      )
      assert.includeMembers([200, 404], [sent[0] ?? 0])
      assert.deepStrictEqual(sent.slice(1).sort(), [204, 404], String(sent))
      assert.strictEqual((await removals()).length, 1)
      await invite(ada)
      assert.isFalse((await listed(ada)).accepted)
    }
  })
})
