import type { Actor, UserActor } from "@coffer/domain/access/Actor"
import { permissions } from "@coffer/domain/access/AclRule"
import { type GroupMapping, NewGroupMappings } from "@coffer/domain/directory/Group"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { Access } from "@coffer/server/access/Access"
import { makeApprovers } from "@coffer/server/access/gate/Approvers"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { AccessTable } from "@coffer/server/directory/acl/AccessTable"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { Groups } from "@coffer/server/directory/groups/Groups"
import { Mappings } from "@coffer/server/directory/groups/Mappings"
import { Identities } from "@coffer/server/directory/identities/Identities"
import { Members } from "@coffer/server/directory/members/Members"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { grantsIn } from "@coffer/server/access/place/PlaceRow"
import { dueJobRepo } from "@coffer/server/secrets/dues/JobRepo"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Schema, TestClock } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"
import {
  asActor,
  entries,
  envPath,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome,
  person,
  transaction
} from "../support/Services.js"
import {
  adding,
  creating,
  doors,
  facts,
  granting,
  into,
  issuer,
  named,
  providerSettings,
  setting,
  tableOf
} from "./Support.js"

const hour = 3_600_000

const withLogins = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(
    Effect.provide(
      Layer.mergeAll(
        Groups.Default,
        Mappings.Default,
        Acl.Default,
        AccessTable.Default,
        Identities.Default,
        Maintenance.Default,
        Layer.provide(Members.Default, Mailer.Default)
      )
    ),
    onDatabase(providerSettings)
  )

/** A login at the provider of a person in these groups there. */
const logIn = (address: string, ...groups: ReadonlyArray<string>) =>
  Effect.flatMap(Identities, (identities) =>
    identities.logIn({ issuer, sub: address, email: address, isVerified: true, provenAt: null, groups }, (user) =>
      Effect.succeed({ result: user.id, resource: { resource_type: "user", resource_id: user.id } })
    )
  )

type Pair = readonly [provider: string, group: string]

const mapping = (actor: Actor, ...pairs: ReadonlyArray<Pair>) =>
  Effect.flatMap(Mappings, (mappings) =>
    transaction(
      Effect.flatMap(into("group.map"), (place) =>
        mappings.set(
          place,
          pairs.map(([provider_group, group]): GroupMapping => ({ provider_group, group: named(group) }))
        )
      )
    )
  ).pipe(asActor(actor))

const membersOf = (actor: Actor, name: string) =>
  Effect.flatMap(Groups, (groups) =>
    Effect.flatMap(into("group.list"), (place) => groups.members(place, named(name)))
  ).pipe(asActor(actor))

const countOf = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const place = yield* into("group.list")
    const one = yield* groups.get(place, named(name))
    const listed = (yield* groups.list(place)).find(({ id }) => id === one.id)
    assert.deepStrictEqual(listed, one)
    return one.members
  }).pipe(asActor(actor))

const reads = (actor: Actor, org = "acme") =>
  outcome(
    Effect.flatMap(Access, (access) => access.env(envPath("prod", "webshop", org), "secret.read")).pipe(asActor(actor))
  )

const removing = (actor: Actor, name: string, person: UserActor) =>
  Effect.flatMap(Groups, (groups) =>
    transaction(Effect.flatMap(into("group.members"), (place) => groups.removeMember(place, named(name), person.id)))
  ).pipe(asActor(actor))

const expelling = (actor: Actor, person: UserActor) =>
  Effect.flatMap(Members, (members) =>
    transaction(Effect.flatMap(into("member.remove"), (place) => members.remove(place, person.id)))
  ).pipe(asActor(actor))

/** The group `crew` of the other organization, whose rule reads, for `staff` at the provider. */
const umbrella = (eve: Actor) =>
  Effect.gen(function* () {
    const access = yield* Access
    const [groups, acl, mappings] = [yield* Groups, yield* Acl, yield* Mappings]
    const org = orgPath("umbrella")
    const rule = { subject_type: "group", group: named("crew"), permission: "read" } as const
    const [project_pattern, env_pattern] = [Pattern.to.make("*"), Pattern.to.make("*")]
    yield* transaction(
      Effect.gen(function* () {
        yield* groups.create(yield* access.org(org, "group.create"), named("crew"))
        yield* acl.grant(yield* access.org(org, "acl.grant"), { ...rule, project_pattern, env_pattern })
        yield* mappings.set(yield* access.org(org, "group.map"), [{ provider_group: "staff", group: named("crew") }])
      })
    )
  }).pipe(asActor(eve))

const invitedTo = (eve: Actor, person: UserActor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath("umbrella"), "member.invite")
    yield* transaction((yield* Members).invite(place, person.email, "developer"))
  }).pipe(asActor(eve))

const explaining = (actor: UserActor) =>
  Effect.gen(function* () {
    const acl = yield* Acl
    const place = yield* into("acl.explain")
    const about = { subject_type: "user", email: actor.email } as const
    return (yield* acl.explain(place, about, ProjectName.make("webshop"), EnvName.make("prod"))).because
  }).pipe(asActor(actor))

/** Returns the rights of a person, by each way of asking. */
const seen = (admin: Actor, person: UserActor) =>
  Effect.gen(function* () {
    const place = yield* into("member.list")
    const people = yield* (yield* Members).list(place)
    const decides = yield* makeApprovers
    const where = { org: "acme", project: "webshop", env: "prod" }
    const deciders = yield* decides("approval.decide", place.org.id, where)
    const rights = yield* (yield* dueJobRepo).rights({ orgId: place.org.id, userId: person.id })
    return {
      doors: yield* doors(person),
      explained: (yield* explaining(person)).map(({ group, permission }) => `${permission} ${group ?? ""}`).sort(),
      table: (yield* tableOf(admin, person.email)).map(({ permission }) => permission),
      access: people.find(({ user_id }) => user_id === person.id)?.has_access,
      decides: deciders.some(({ id }) => id === person.id),
      rules: grantsIn(rights?.group_rules ?? "").length
    }
  }).pipe(asActor(admin))

describe("the groups of a person who was invited", () => {
  it.effect("are told to the organization when the person accepts, with an entry, and not before", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* creating(ada, "backend")
      yield* granting(ada, "backend", "write")
      yield* mapping(ada, ["eng", "backend"])
      const members = yield* Members
      const place = yield* into("member.list").pipe(asActor(ada))
      const bob = yield* person("bob@example.com")
      yield* transaction(
        Effect.flatMap(into("member.invite"), (into) => members.invite(into, bob.email, "developer"))
      ).pipe(asActor(ada))
      yield* logIn("bob@example.com", "eng", "staff")
      const told = Effect.gen(function* () {
        const found = (yield* members.list(place)).find(({ user_id }) => user_id === bob.id)
        return {
          accepted: found?.accepted,
          access: found?.has_access,
          members: (yield* membersOf(ada, "backend")).map(({ email }) => email),
          count: yield* countOf(ada, "backend"),
          removal: yield* outcome(removing(ada, "backend", bob)),
          entries: facts(yield* entries(), "group.login").length,
          table: (yield* tableOf(ada, bob.email)).map(({ permission }) => permission)
        }
      })
      assert.deepStrictEqual(yield* told, {
        ...{ accepted: false, access: false, members: [], count: 0, removal: "NotFound", entries: 0 },
        table: [null, null, null]
      })
      // The first call: the groups count in it already.
      assert.strictEqual(yield* reads(bob), "success")
      assert.deepStrictEqual(yield* told, {
        ...{ accepted: true, access: true, members: [bob.email], count: 1, removal: "Conflict", entries: 1 },
        table: ["write", "write", "write"]
      })
    }).pipe(withLogins)
  )
})

describe("groups that a login brought", () => {
  it.effect("equal groups a person was added to until they end, and no groups from then on, whatever is asked", () =>
    withLogins(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* newProject(ada, "api")
        const groups = ["a", "b", "c"]
        for (const [index, name] of groups.entries()) {
          yield* creating(ada, name)
          yield* granting(ada, name, permissions[index + 1]!, index === 1 ? "*" : "webshop", index === 2 ? "prod" : "*")
        }
        const shape = fc.record({
          mapped: fc.uniqueArray(fc.tuple(fc.constantFrom("p", "q", "r"), fc.constantFrom(...groups)), {
            selector: (pair) => pair.join()
          }),
          brought: fc.subarray(["p", "q", "r", "unknown"]),
          added: fc.subarray(groups),
          age: fc.constantFrom(0, hour - 1, hour, hour + 1)
        })
        let made = 0
        for (const { added, age, brought, mapped } of fc.sample(shape, runs(30))) {
          const n = ++made
          const tried = yield* member(`t${n}@example.com`, "developer")
          const control = yield* member(`c${n}@example.com`, "developer")
          for (const name of added) yield* adding(ada, name, tried.email)
          yield* mapping(ada, ...mapped)
          yield* logIn(tried.email, ...brought)
          yield* TestClock.adjust(age)
          const live = mapped.filter(([from]) => age < hour && brought.includes(from)).map(([, to]) => to)
          for (const name of new Set([...added, ...live])) yield* adding(ada, name, control.email)
          assert.deepStrictEqual(
            yield* seen(ada, tried),
            yield* seen(ada, control),
            JSON.stringify({ added, age, brought, mapped })
          )
          for (const name of groups) {
            const listed = (yield* membersOf(ada, name)).filter(({ user_id }) => user_id === tried.id)
            const isIn = added.includes(name) || live.includes(name)
            assert.strictEqual(listed.length, isIn ? 1 : 0)
            for (const { added_by, login_ends_at } of listed) {
              assert.deepStrictEqual(
                [added_by !== undefined, login_ends_at !== undefined],
                [added.includes(name), live.includes(name)]
              )
            }
            assert.strictEqual(yield* countOf(ada, name), (yield* membersOf(ada, name)).length)
          }
        }
      })
    )
  )

  it.effect("are replaced by the next login, in all organizations, and never take what was added", () =>
    withLogins(
      Effect.gen(function* () {
        const ada = yield* organization()
        const eve = yield* organization("umbrella", "webshop", "eve@example.com")
        const bob = yield* member("bob@example.com", "developer")
        yield* creating(ada, "ops")
        yield* creating(ada, "web")
        for (const name of ["ops", "web"]) yield* granting(ada, name, "read")
        yield* mapping(ada, ["eng", "ops"], ["web", "web"])
        yield* umbrella(eve)
        yield* logIn("bob@example.com", "eng", "other")
        assert.deepStrictEqual([yield* reads(bob), yield* reads(bob, "umbrella")], ["success", "NotFound"])
        yield* invitedTo(eve, bob)
        assert.strictEqual(yield* reads(bob, "umbrella"), "Forbidden")
        const [only] = yield* membersOf(ada, "ops")
        assert.deepStrictEqual(only, {
          ...{ user_id: bob.id, email: bob.email, name: "bob" },
          ...{ provider_group: "eng", login_ends_at: "1970-01-01T01:00:00.000Z" }
        })
        assert.deepInclude((yield* explaining(bob))[0], {
          group: named("ops"),
          expires_at: "1970-01-01T01:00:00.000Z"
        })
        const refusal = yield* Effect.flip(removing(ada, "ops", bob))
        assert.match(
          refusal.message,
          /^a login brought bob@example.com into group ops, as a member of eng: change that/
        )

        // Beside the login, and after it.
        assert.isTrue((yield* adding(ada, "ops", "bob@example.com")).created)
        assert.notProperty((yield* explaining(bob))[0], "expires_at")
        yield* TestClock.adjust("30 minutes")
        yield* logIn("bob@example.com", "web", "staff")
        assert.strictEqual(yield* reads(bob, "umbrella"), "success")
        assert.deepStrictEqual(
          (yield* membersOf(ada, "ops")).map((each) => [each.added_by, each.provider_group]),
          [["ada@example.com", undefined]]
        )
        assert.strictEqual(yield* countOf(ada, "web"), 1)
        yield* setting(ada, "ops")
        yield* setting(ada, "web")
        assert.strictEqual(yield* countOf(ada, "web"), 1)
        assert.deepStrictEqual(
          (yield* explaining(bob)).map(({ group }) => group),
          [named("web")]
        )
        yield* logIn("bob@example.com")
        assert.deepStrictEqual([yield* reads(bob), yield* reads(bob, "umbrella")], ["Forbidden", "Forbidden"])
        const ends = (at: string) => ({ expires_at: `1970-01-01T${at}:00.000Z` })
        assert.deepStrictEqual(facts(yield* entries("umbrella"), "group.login"), [
          { email: "bob@example.com", added: ["crew"], removed: [], ...ends("01:30") },
          { email: "bob@example.com", added: [], removed: ["crew"] }
        ])
        assert.deepStrictEqual(facts(yield* entries(), "group.login"), [
          { email: "bob@example.com", added: ["ops"], removed: [], ...ends("01:00") },
          { email: "bob@example.com", added: ["web"], removed: ["ops"], ...ends("01:30") },
          { email: "bob@example.com", added: [], removed: ["web"] }
        ])
      })
    )
  )

  it.effect("end with their mapping, their group and the person's membership, and nothing of them comes back", () =>
    withLogins(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        const groups = yield* Groups
        for (const name of ["ops", "web"]) {
          yield* creating(ada, name)
          yield* granting(ada, name, "read")
        }
        yield* mapping(ada, ["eng", "ops"], ["sre", "ops"])
        yield* logIn("bob@example.com", "eng", "sre")
        yield* mapping(ada, ["sre", "ops"])
        assert.strictEqual(yield* reads(bob), "success")
        yield* mapping(ada)
        assert.strictEqual(yield* reads(bob), "Forbidden")
        // The login brought sre, so a new mapping of it counts at once; eng2 was in no mapping then.
        yield* mapping(ada, ["eng2", "web"])
        assert.strictEqual(yield* reads(bob), "Forbidden")
        yield* mapping(ada, ["sre", "web"])
        assert.strictEqual(yield* reads(bob), "success")

        yield* transaction(Effect.flatMap(into("group.delete"), (place) => groups.remove(place, named("web")))).pipe(
          asActor(ada)
        )
        assert.strictEqual(yield* reads(bob), "Forbidden")
        yield* creating(ada, "web")
        yield* granting(ada, "web", "read")
        yield* logIn("bob@example.com", "sre")
        assert.strictEqual(yield* reads(bob), "Forbidden")

        yield* mapping(ada, ["eng", "ops"])
        yield* adding(ada, "web", "bob@example.com")
        yield* logIn("bob@example.com", "eng")
        yield* expelling(ada, bob)
        assert.strictEqual(yield* reads(bob), "NotFound")
        yield* logIn("bob@example.com", "eng")
        yield* member("bob@example.com", "developer")
        assert.strictEqual(yield* reads(bob), "Forbidden")
        yield* logIn("bob@example.com", "eng")
        assert.strictEqual(yield* reads(bob), "success")

        // Maintenance deletes what has ended, and changes nothing else.
        const rows = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT user_id FROM login_groups`)
        const sweep = Effect.flatMap(Maintenance, (maintenance) => maintenance.sweep)
        yield* TestClock.adjust(hour - 1)
        yield* sweep
        assert.strictEqual(yield* reads(bob), "success")
        yield* TestClock.adjust("1 hours")
        assert.strictEqual(yield* reads(bob), "Forbidden")
        yield* sweep
        assert.deepStrictEqual(yield* rows, [])
      })
    )
  )

  it.effect("are set by owners, all at once, with an entry of what changed", () =>
    withLogins(
      Effect.gen(function* () {
        const ada = yield* organization()
        const admin = yield* member("admin@example.com", "admin")
        const mappings = yield* Mappings
        for (const name of ["ops", "web"]) yield* creating(ada, name)
        assert.strictEqual(yield* outcome(mapping(admin, ["eng", "ops"])), "Forbidden")
        const unknown = yield* Effect.flip(mapping(ada, ["eng", "ops"], ["eng", "nobody"]))
        assert.strictEqual(unknown.message, "group nobody does not exist")
        const set = yield* mapping(ada, ["web", "web"], ["eng", "web"], ["eng", "ops"], ["eng", "web"])
        assert.deepStrictEqual(set, yield* Effect.flatMap(into("group.list"), mappings.list).pipe(asActor(admin)))
        assert.deepStrictEqual(
          [set.claim, set.data.map((pair) => Object.values(pair).join(" "))],
          ["groups", ["eng ops", "eng web", "web web"]]
        )
        yield* mapping(ada, ["eng", "ops"], ["eng", "web"], ["web", "web"])
        yield* mapping(ada, ["eng", "ops"])
        assert.deepStrictEqual(facts(yield* entries(), "group.map"), [
          { mappings: 3, added: ["web → web", "eng → web", "eng → ops"], removed: [] },
          { mappings: 1, added: [], removed: ["eng → web", "web → web"] }
        ])
        const decode = Schema.decodeUnknownEither(NewGroupMappings)
        const pairs = (length: number, name = "a") =>
          Array.from({ length }, () => ({ provider_group: name, group: "ops" }))
        assert.isTrue(Either.isRight(decode(pairs(200, "é".repeat(256)))))
        for (const bad of [pairs(201), pairs(1, ""), pairs(1, "a\nb"), pairs(1, "a".repeat(257))]) {
          assert.isTrue(Either.isLeft(decode(bad)))
        }
      })
    )
  )

  it.effect("are not left behind by a login while the person is removed", () =>
    withLogins(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* creating(ada, "ops")
        yield* granting(ada, "ops", "read")
        yield* mapping(ada, ["eng", "ops"])
        for (let round = 0; round < runs(15); round++) {
          const bob = yield* member(`b${round}@example.com`, "developer")
          // An earlier login's row would make the removal wait for this one.
          yield* Effect.all([logIn(bob.email, "eng"), expelling(ada, bob)], { concurrency: "unbounded" })
          // A row that is left would count again; the invariants of the test would find it too.
          yield* member(bob.email, "developer")
          assert.strictEqual(yield* reads(bob), "Forbidden")
        }
      })
    )
  )
})
