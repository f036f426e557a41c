import { permissions } from "@coffer/domain/access/AclRule"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { AccessTable } from "@coffer/server/directory/acl/AccessTable"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { Groups } from "@coffer/server/directory/groups/Groups"
import { Members } from "@coffer/server/directory/members/Members"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"
import {
  asActor,
  entries,
  envPath,
  grant,
  member,
  newProject,
  onDatabase,
  organization,
  outcome,
  transaction,
  uuid
} from "../support/Services.js"
import { adding, creating, doors, facts, granting, into, named, setting, tableOf } from "./Support.js"

const withGroups = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(
    Effect.provide(
      Layer.mergeAll(Groups.Default, Acl.Default, AccessTable.Default, Layer.provide(Members.Default, Mailer.Default))
    ),
    onDatabase()
  )

describe("groups", () => {
  it.effect("give their members what rules of their own would, and never a role", () =>
    withGroups(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* newProject(ada, "api")
        const ruleOf = fc.record({
          group: fc.nat(2),
          permission: fc.constantFrom(...permissions),
          project: fc.constantFrom("*", "webshop", "a?i"),
          env: fc.constantFrom("*", "dev", "prod")
        })
        const shape = fc.record({
          role: fc.constantFrom("member" as const, "developer" as const),
          groups: fc.subarray([0, 1, 2]),
          own: fc.boolean(),
          rules: fc.uniqueArray(ruleOf, { selector: ({ env, group, project }) => `${group} ${project} ${env}` })
        })
        let made = 0
        for (const { groups, own, role, rules } of fc.sample(shape, runs(40))) {
          const n = ++made
          const [grouped, control] = [
            yield* member(`g${n}@example.com`, role),
            yield* member(`c${n}@example.com`, role)
          ]
          for (const index of [0, 1, 2]) yield* creating(ada, `g${n} ${index}`)
          for (const index of groups) yield* adding(ada, `g${n} ${index}`, grouped.email)
          for (const { env, group, permission, project } of rules) {
            yield* granting(ada, `g${n} ${group}`, permission, project, env)
          }
          const counting = rules.filter(({ group }) => groups.includes(group))
          if (own) for (const one of [grouped, control]) yield* grant(one, "use", { project: "w*", env: "dev" })
          // Of the same patterns a person has one rule: the highest.
          const highest = new Map<string, (typeof rules)[number]>()
          for (const rule of counting) {
            const at = `${rule.project} ${rule.env}`
            const known = highest.get(at)
            if (known === undefined || permissions.indexOf(rule.permission) > permissions.indexOf(known.permission)) {
              highest.set(at, rule)
            }
          }
          for (const { env, permission, project } of highest.values())
            yield* grant(control, permission, { project, env })
          assert.deepStrictEqual(yield* doors(grouped), yield* doors(control))
          assert.deepStrictEqual(
            (yield* tableOf(ada, grouped.email)).map(({ permission }) => permission),
            (yield* tableOf(ada, control.email)).map(({ permission }) => permission)
          )
          assert.strictEqual(yield* outcome(into("project.create").pipe(asActor(grouped))), "Forbidden")
          const people = yield* Effect.flatMap(into("member.list"), (yield* Members).list).pipe(asActor(ada))
          const accessOf = (id: string) => people.find(({ user_id }) => user_id === id)?.has_access
          assert.strictEqual(accessOf(grouped.id), accessOf(control.id))
        }
      })
    )
  )

  it.effect("are named by what explains their rules, and their rules end as all do", () =>
    withGroups(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* creating(ada, "Back end")
        yield* adding(ada, "Back end", "bob@example.com")
        yield* granting(ada, "Back end", "write", "webshop", "dev")
        yield* granting(ada, "Back end", "read", "webshop", "prod", "1970-01-01T01:00:00Z")
        const [dev] = yield* tableOf(ada, "bob@example.com")
        assert.deepInclude(dev?.because, { by: "rule", group: named("Back end"), permission: "write" })
        const explain = Effect.gen(function* () {
          const acl = yield* Acl
          return yield* Effect.flatMap(into("acl.explain"), (place) =>
            acl.explain(
              place,
              { subject_type: "user", email: bob.email },
              ProjectName.make("webshop"),
              EnvName.make("prod")
            )
          )
        }).pipe(asActor(bob))
        const { because } = yield* explain
        assert.deepInclude(because[0], { group: named("Back end"), expires_at: "1970-01-01T01:00:00.000Z" })
        const rules = yield* Effect.flatMap(into("acl.list"), (yield* Acl).list).pipe(asActor(ada))
        assert.deepStrictEqual(
          rules.map(({ group, subject_type }) => [subject_type, group]),
          [
            ["group", "Back end"],
            ["group", "Back end"]
          ]
        )
        yield* TestClock.adjust("1 hours")
        assert.deepStrictEqual((yield* explain).because, [])
        assert.deepInclude(facts(yield* entries(), "acl.grant")[0] as object, {
          subject_type: "group",
          group: "Back end"
        })
      })
    )
  )

  it.effect("lose a member with the organization's, and their rules with themselves; nothing of it comes back", () =>
    withGroups(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        for (const name of ["one", "two"]) {
          yield* creating(ada, name)
          yield* adding(ada, name, "bob@example.com")
          yield* granting(ada, name, "read")
        }
        const groups = yield* Groups
        const members = yield* Members
        const remove = (name: string) =>
          transaction(Effect.flatMap(into("group.delete"), (place) => groups.remove(place, named(name)))).pipe(
            asActor(ada)
          )
        const read = outcome(
          Effect.flatMap(Access, (access) => access.env(envPath(), "secret.read")).pipe(asActor(bob))
        )
        yield* remove("one")
        assert.strictEqual(yield* read, "success")
        yield* transaction(Effect.flatMap(into("member.remove"), (place) => members.remove(place, bob.id))).pipe(
          asActor(ada)
        )
        assert.strictEqual(yield* read, "NotFound")
        yield* member("bob@example.com", "developer")
        assert.strictEqual(yield* read, "Forbidden")
        yield* creating(ada, "one")
        yield* adding(ada, "one", "bob@example.com")
        assert.strictEqual(yield* read, "Forbidden")
        yield* adding(ada, "two", "bob@example.com")
        assert.strictEqual(yield* read, "success")
        const log = yield* entries()
        assert.deepStrictEqual(facts(log, "group.delete"), [{ name: "one", rules_removed: 1, members: 1 }])
        assert.deepInclude(facts(log, "org.member_remove")[0] as object, { rules_removed: 0, groups_left: 1 })
      })
    )
  )

  it.effect("have all members set at once, or not at all, and those who stay are as they were", () =>
    withGroups(
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const name of ["bob", "cy", "di"]) yield* member(`${name}@example.com`, "member")
        yield* creating(ada, "ops")
        yield* setting(ada, "ops", "bob@example.com", "cy@example.com", "bob@example.com")
        yield* TestClock.adjust("1 hours")
        const group = yield* setting(ada, "ops", "di@example.com", "cy@example.com")
        assert.strictEqual(group.members, 2)
        yield* setting(ada, "ops", "cy@example.com", "di@example.com")
        const nobody = yield* Effect.flip(setting(ada, "ops", "di@example.com", "nobody@example.com"))
        assert.strictEqual(nobody.message, "nobody@example.com is not a member of organization acme")
        const again = yield* adding(ada, "ops", "cy@example.com")
        assert.isFalse(again.created)
        const groups = yield* Groups
        const members = yield* Effect.flatMap(into("group.list"), (place) => groups.members(place, named("ops"))).pipe(
          asActor(ada)
        )
        assert.deepStrictEqual(
          members.map(({ created_at, email }) => [email, created_at]),
          [
            ["cy@example.com", "1970-01-01T00:00:00.000Z"],
            ["di@example.com", "1970-01-01T01:00:00.000Z"]
          ]
        )
        assert.deepStrictEqual(facts(yield* entries(), "group.members_set"), [
          { name: "ops", members: 2, added: ["bob@example.com", "cy@example.com"], removed: [] },
          { name: "ops", members: 2, added: ["di@example.com"], removed: ["bob@example.com"] }
        ])
      })
    )
  )

  it.effect("have a limit: 200 of an organization, 2,000 members of each, 2,000 rules of all", () =>
    withGroups(
      Effect.gen(function* () {
        const ada = yield* organization()
        const sql = yield* SqlClient.SqlClient
        const [org] = yield* sql<{ id: string }>`SELECT id FROM organizations WHERE name = 'acme'`
        const org_id = org!.id
        const stamps = { created_at: "2026", updated_at: "2026" }
        const ids = Array.from({ length: 198 }, uuid)
        yield* transaction(
          sql`INSERT INTO groups ${sql.insert(
            ids.map((id, index) => ({ id, org_id, name: `g${index}`, created_by: "x", ...stamps }))
          )}`
        )
        yield* creating(ada, "last")
        yield* creating(ada, "full")
        assert.match((yield* Effect.flip(creating(ada, "more"))).message, /at most 200 groups/)
        assert.strictEqual(yield* outcome(creating(ada, "LAST")), "LimitExceeded")

        const users = Array.from({ length: 2_000 }, (_, index) => ({ id: uuid(), email: `m${index}@example.com` }))
        for (let at = 0; at < users.length; at += 200) {
          const some = users.slice(at, at + 200)
          yield* transaction(
            Effect.zipRight(
              sql`INSERT INTO users ${sql.insert(some.map((user) => ({ ...user, name: "", ...stamps })))}`,
              sql`INSERT INTO members ${sql.insert(
                some.map(({ id }) => ({ id: uuid(), org_id, user_id: id, role: "member", ...stamps }))
              )}`
            )
          )
        }
        yield* setting(ada, "full", ...users.map(({ email }) => email))
        assert.match((yield* Effect.flip(adding(ada, "full", "ada@example.com"))).message, /at most 2,000 members/)

        for (let at = 0; at < 2_000; at += 200) {
          yield* transaction(
            sql`INSERT INTO acl_rules ${sql.insert(
              Array.from({ length: 200 }, (_, index) => ({
                ...{ id: uuid(), org_id, subject_type: "group", subject_id: ids[at / 200]! },
                ...{ project_pattern: `p${index}`, env_pattern: "*", permission: "read", created_by: "x", ...stamps }
              }))
            )}`
          )
        }
        assert.match((yield* Effect.flip(granting(ada, "last", "read"))).message, /together at most 2000 access rules/)
        assert.isFalse((yield* granting(ada, "g0", "write", "p1")).created)
      })
    )
  )

  it.effect("have names of their own, whatever the case, and keep all under a new one", () =>
    withGroups(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* member("bob@example.com", "developer")
        const groups = yield* Groups
        const renaming = (name: string, newName: string) =>
          transaction(
            Effect.flatMap(into("group.update"), (place) => groups.rename(place, named(name), named(newName)))
          ).pipe(asActor(ada))
        yield* creating(ada, "ops")
        yield* creating(ada, "sre")
        yield* adding(ada, "ops", "bob@example.com")
        yield* granting(ada, "ops", "read")
        assert.match((yield* Effect.flip(creating(ada, "OPS"))).message, /in use, as "ops"/)
        assert.strictEqual(yield* outcome(renaming("ops", "SRE")), "Conflict")
        assert.strictEqual((yield* renaming("ops", "Ops")).name, "Ops")
        const renamed = yield* renaming("Ops", "platform")
        assert.deepInclude(renamed, { name: named("platform"), members: 1, rules: 1 })
        assert.strictEqual(yield* outcome(renaming("ops", "more")), "NotFound")
        assert.deepStrictEqual(facts(yield* entries(), "group.update"), [
          { name: "Ops", before: "ops" },
          { name: "platform", before: "Ops" }
        ])
      })
    )
  )
})
