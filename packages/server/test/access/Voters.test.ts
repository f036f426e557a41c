import { approversIn, approversText, emailsIn, makeProtections } from "@coffer/server/access/gate/Protections"
import { makeApprovers } from "@coffer/server/access/gate/Approvers"
import { makeVotingMembers, namesOf } from "@coffer/server/access/gate/VotingMembers"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { protect } from "../support/Protecting.js"
import {
  email,
  enter,
  envPath,
  grant,
  member,
  newProject,
  onDatabase,
  organization,
  person,
  uuid
} from "../support/Services.js"

const [ada, bob] = [email("ada@example.com"), email("bob@example.com")]

describe("the voters that a protection names", () => {
  it("are stored as a word or as a list of addresses; anything else names nobody", () => {
    assert.deepStrictEqual(emailsIn(`["${ada}", 7, "no address", null]`), [ada])
    for (const text of ["{}", "null", "7"]) assert.deepStrictEqual(emailsIn(text), [])
    for (const approvers of ["owners", "admins", [ada, bob], []] as const) {
      assert.deepStrictEqual(approversIn(approversText(approvers)), approvers)
    }
    assert.deepStrictEqual(approversIn('"owners"'), [])
  })

  it("are counted by names in a message: three, and whether there are more", () => {
    assert.strictEqual(namesOf(["a"]), "a")
    assert.strictEqual(namesOf(["a", "b", "c"]), "a, b, c")
    assert.strictEqual(namesOf(["a", "b", "c", "d"]), "a, b, c and more")
  })
})

/** An organization with people of all kinds, some of whom cannot vote. */
const scene = Effect.gen(function* () {
  const owner = yield* organization()
  const sql = yield* SqlClient.SqlClient
  const admin = yield* member("admin@example.com", "admin")
  const invited = yield* member("invited@example.com", "admin")
  const disabled = yield* member("disabled@example.com", "owner")
  const gone = yield* member("gone@example.com", "admin")
  const dev = yield* member("dev@example.com", "developer")
  const stranger = yield* person("stranger@example.com")
  yield* sql`UPDATE members SET accepted_at = NULL WHERE user_id = ${invited.id}`
  yield* sql`UPDATE users SET disabled_at = 'now' WHERE id = ${disabled.id}`
  yield* sql`UPDATE members SET removed_at = 'now' WHERE user_id = ${gone.id}`
  const place = yield* enter(owner, "secret.list")
  return { owner, admin, invited, disabled, gone, dev, stranger, place, sql }
})

const emailsOf = (all: ReadonlyArray<{ readonly email: string }>) => all.map((one) => one.email).sort()

describe("the people who vote", () => {
  it.effect(
    "are members by their role or address who are not disabled, and count once they have accepted the invitation",
    () =>
      Effect.gen(function* () {
        const { admin, dev, disabled, gone, invited, owner, place, stranger } = yield* scene
        const { candidatesOf, votersOf } = yield* makeProtections
        const named = [dev, gone, disabled, stranger, invited].map((one) => one.email)
        for (const [approvers, voters, candidates] of [
          ["owners", [owner], [owner]],
          ["admins", [admin, owner], [admin, invited, owner]],
          [named, [dev], [dev, invited]],
          [[], [], []]
        ] as const) {
          assert.deepStrictEqual(emailsOf(yield* votersOf(place.org.id, approvers)), emailsOf(voters))
          assert.deepStrictEqual(emailsOf(yield* candidatesOf(place.org.id, approvers)), emailsOf(candidates))
        }
      }).pipe(onDatabase())
  )

  it.effect("are read with the protection, until it ends", () =>
    Effect.gen(function* () {
      const { place, sql } = yield* scene
      const { find } = yield* makeProtections
      assert.isNull(yield* find(place.env.id))
      yield* protect({ needed: 2, approvers: [ada], break_glass: [bob] })
      const stored = { needed: 2, approvers: [ada], break_glass: [bob], expires_after: "72h", version: 1 }
      const { etag, ...found } = (yield* find(place.env.id)) ?? assert.fail("no protection")
      const by = { updated_by: ada, updated_at: "1970-01-01T00:00:00.000Z" }
      assert.deepStrictEqual(found, { ...stored, ...by, self: false, passkey: false })
      yield* sql`UPDATE protections SET self = 1, passkey = 1, version = 2`
      const later = (yield* find(place.env.id)) ?? assert.fail("no protection")
      assert.isTrue(later.self && later.passkey)
      assert.notStrictEqual(later.etag, etag)
      yield* sql`UPDATE protections SET removed_at = 'now'`
      assert.isNull(yield* find(place.env.id))
    }).pipe(onDatabase())
  )

  it.effect(
    "are told by what lets them decide: first a rule for the place, then a role, then the right of a superadmin",
    () =>
      Effect.gen(function* () {
        const { admin, dev, disabled, gone, invited, owner, place, sql, stranger } = yield* scene
        const root = yield* member("root@example.com", "member")
        const elsewhere = yield* member("elsewhere@example.com", "developer")
        yield* sql`UPDATE users SET superadmin = 1 WHERE id IN (${root.id}, ${stranger.id})`
        for (const actor of [dev, disabled, gone, invited, stranger]) yield* grant(actor, "write")
        yield* grant(elsewhere, "write", { env: "dev" })
        const approversOf = yield* makeApprovers
        const names = { org: "acme", project: "webshop", env: "prod" }
        const found = yield* approversOf("secret.write", place.org.id, names)
        assert.deepStrictEqual(
          found.map((one) => one.email),
          [dev.email, ...(owner.id < admin.id ? [owner, admin] : [admin, owner]).map((one) => one.email), root.email]
        )
        assert.deepStrictEqual(
          found.map(({ id }) => id),
          found.map((one) => [dev, owner, admin, root].find(({ email }) => email === one.email)?.id) as never
        )
      }).pipe(onDatabase())
  )
})

describe("an organization's protected environments", () => {
  const stuck = { approvers: ["nobody@example.com"] }

  it.effect("are stuck if nobody could end their protection; those who may accept an invitation can be counted", () =>
    Effect.gen(function* () {
      const { admin, dev, invited, owner, place, sql } = yield* scene
      const voting = yield* makeVotingMembers
      assert.deepStrictEqual(yield* voting.stuck(place.org.id), [])
      yield* protect({ approvers: "admins" })
      assert.deepStrictEqual(yield* voting.stuck(place.org.id), [])
      yield* protect(stuck, envPath("dev"))
      yield* protect({ ...stuck, break_glass: [owner.email] }, envPath("staging"))
      assert.deepStrictEqual(yield* voting.stuck(place.org.id), ["webshop/dev"])
      yield* sql`UPDATE protections SET approvers = ${JSON.stringify([invited.email])} WHERE approvers <> 'admins'`
      assert.deepStrictEqual(yield* voting.stuck(place.org.id), ["webshop/dev"])
      assert.deepStrictEqual(yield* voting.stuck(place.org.id, { invited: true }), [])
      yield* sql`UPDATE protections SET approvers = ${JSON.stringify([owner.email])}, break_glass = '[]'`
      assert.lengthOf(yield* voting.stuck(place.org.id), 1, "all three need the same votes")
      yield* sql`UPDATE protections SET self = 1`
      assert.deepStrictEqual(yield* voting.stuck(place.org.id), [])

      const all = yield* voting.members(place.org.id)
      assert.deepStrictEqual(emailsOf(all), emailsOf([admin, dev, owner]))
      assert.isTrue(all.every(({ writes }) => writes))
      assert.include(emailsOf(yield* voting.members(place.org.id, { invited: true })), invited.email)
    }).pipe(onDatabase())
  )

  it.effect("keep a change of the members that could still end their protection, and no other", () =>
    Effect.gen(function* () {
      const { admin, owner, place, sql } = yield* scene
      const { keepVotes } = yield* makeVotingMembers
      const without = (address: string) =>
        Effect.match(
          keepVotes(place.org.id, email(address), (members) => members.filter((one) => one.email !== address)),
          { onSuccess: () => "kept", onFailure: ({ message }) => message }
        )
      assert.strictEqual(yield* without(admin.email), "kept")
      yield* newProject(owner, "api")
      yield* protect({ needed: 1 })
      yield* protect({ needed: 1, self: true }, envPath("dev"))
      assert.strictEqual(yield* without("dev@example.com"), "kept")
      assert.match(
        yield* without(admin.email),
        /^without admin@example\.com, nobody could end the protection of webshop\/prod or get its votes:/
      )
      yield* protect({ needed: 1, passkey: true, approvers: [admin.email] }, envPath("staging"))
      yield* protect({ needed: 1, approvers: [admin.email, ada] }, envPath("dev", "api"))
      yield* protect({ needed: 1, approvers: [admin.email, bob] }, envPath("prod", "api"))
      const refused = yield* without(admin.email)
      assert.match(refused, /the protection of [^ ]+, [^ ]+, [^ ]+ and more or get its votes/)
      // A protection that nobody could end before is no reason.
      yield* sql`UPDATE protections SET approvers = '[]', self = 0`
      assert.strictEqual(yield* without(admin.email), "kept")
    }).pipe(onDatabase())
  )
})

describe("an organization with more people and environments than one page", () => {
  const stamps = { created_at: "1970-01-01T00:00:00.000Z", updated_at: "1970-01-01T00:00:00.000Z" }

  it.effect("has them all read", () =>
    Effect.gen(function* () {
      const { place, sql } = yield* scene
      const people = Array.from({ length: 401 }, (_, index) => ({
        ...{ id: randomUUID(), email: `person-${index}@example.com`, name: "", ...stamps }
      }))
      yield* sql`INSERT INTO users ${sql.insert(people)}`
      yield* sql`INSERT INTO members ${sql.insert(
        people.map(({ id }) => ({
          ...{ id: uuid(), org_id: place.org.id, user_id: id, role: "admin", accepted_at: "1970", ...stamps }
        }))
      )}`
      const voting = yield* makeVotingMembers
      assert.lengthOf(yield* voting.members(place.org.id), 404)
      const approversOf = yield* makeApprovers
      const names = { org: "acme", project: "webshop", env: "prod" }
      assert.lengthOf(yield* approversOf("secret.write", place.org.id, names), 403)

      const envs = Array.from({ length: 401 }, (_, index) => ({ id: uuid(), name: `env-${index}` }))
      yield* sql`INSERT INTO environments ${sql.insert(
        envs.map((env) => ({ ...env, ...stamps, project_id: place.project.id, protected: 1 }))
      )}`
      yield* sql`INSERT INTO protections ${sql.insert(
        envs.map(({ id, name }) => ({
          ...{ env_id: id, org_id: place.org.id, needed: 1, self: 0, break_glass: "[]", expires_after: "72h" },
          ...{ approvers: `["${name}@example.com"]`, passkey: 0, version: 1, updated_by: "", updated_at: "" }
        }))
      )}`
      assert.lengthOf(yield* voting.stuck(place.org.id), 401)
    }).pipe(onDatabase())
  )
})
