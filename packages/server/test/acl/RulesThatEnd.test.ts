import type { Actor } from "@coffer/domain/access/Actor"
import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { Access } from "@coffer/server/access/Access"
import { AccessTable } from "@coffer/server/directory/acl/AccessTable"
import { Acl, type GrantRequest } from "@coffer/server/directory/acl/Acl"
import { Members } from "@coffer/server/directory/members/Members"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { KeySearch } from "@coffer/server/secrets/key-search/KeySearch"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, TestClock } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"
import {
  account,
  asActor,
  email,
  entries,
  envPath,
  grant,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome,
  setSecret,
  transaction
} from "../support/Services.js"

const hour = 3_600_000

const withRules = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(
    Effect.provide(
      Layer.mergeAll(AccessTable.Default, Acl.Default, Members.Default, KeySearch.Default, Maintenance.Default)
    ),
    onDatabase()
  )

const inOrg = <A extends "acl.grant" | "acl.list" | "acl.revoke" | "acl.explain" | "member.list" | "member.remove">(
  action: A
) => Effect.flatMap(Access, (access) => access.org(orgPath(), action))

const entering = (
  actor: Actor,
  action: "secret.use" | "secret.read" | "secret.write" | "secret.destroy",
  path = envPath()
) => Effect.flatMap(Access, (access) => access.right(path, action)).pipe(asActor(actor))

const timeIn = (millis: number) => Effect.map(Clock.currentTimeMillis, (now) => new Date(now + millis).toISOString())

const decoded = (text: string) => Pattern.to.make(text)

const patterns = (project: string, env: string) => ({
  project_pattern: decoded(project),
  env_pattern: decoded(env)
})

const toBob = { subject_type: "user", email: email("bob@example.com"), ...patterns("webshop", "*") } as const

/** Grants as an actor. */
const granting = (actor: Actor, request: GrantRequest) =>
  Effect.flatMap(Acl, (acl) =>
    transaction(Effect.flatMap(inOrg("acl.grant"), (place) => acl.grant(place, request)))
  ).pipe(asActor(actor))

const sweep = Effect.flatMap(Maintenance, (maintenance) => maintenance.sweep)

const actions = (log: ReadonlyArray<{ readonly action: string }>) =>
  log.map(({ action }) => action).filter((action) => action.startsWith("acl."))

/** Returns everything that a subject may do and see, by each way of asking. */
const seen = (admin: Actor, actor: Actor) =>
  Effect.gen(function* () {
    const acl = yield* Acl
    const table = yield* AccessTable
    const ref =
      actor.type === "user"
        ? ({ subject_type: "user", email: actor.email } as const)
        : ({ subject_type: "service_account", subject_id: actor.id } as const)
    const places = ["webshop", "api"].flatMap((project) => ["dev", "prod"].map((env) => ({ project, env })))
    const doors = yield* Effect.forEach(places, ({ env, project }) =>
      Effect.forEach(["secret.use", "secret.read", "secret.write", "secret.destroy"] as const, (action) =>
        outcome(entering(actor, action, envPath(env, project)))
      )
    )
    const explained = yield* Effect.forEach(places, ({ env, project }) =>
      Effect.flatMap(inOrg("acl.explain"), (place) =>
        acl.explain(place, ref, ProjectName.make(project), EnvName.make(env))
      )
    ).pipe(asActor(admin))
    const { data } = yield* Effect.flatMap(inOrg("acl.explain"), (place) =>
      table.read(place, { subject: actor.type === "user" ? actor.email : actor.id })
    ).pipe(asActor(admin))
    const listed = yield* Effect.flatMap(inOrg("acl.list"), acl.list).pipe(asActor(admin))
    const manages = yield* outcome(inOrg("acl.list").pipe(asActor(actor)))
    const found = yield* Effect.gen(function* () {
      const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "key.find"))
      return yield* (yield* KeySearch).find(place, { query: "SHARED" })
    }).pipe(asActor(actor))
    const members = yield* Effect.flatMap(inOrg("member.list"), (yield* Members).list).pipe(asActor(admin))
    return {
      doors,
      manages,
      explained: explained.map(({ allowed, because }) => [allowed, because.map(({ permission }) => permission).sort()]),
      table: data.map(({ because, permission }) => [permission, because?.permission, because?.expires_at]),
      listed: listed
        .filter(({ subject_id }) => subject_id === actor.id)
        .map(({ env_pattern, expires_at, permission, project_pattern }) =>
          [project_pattern, env_pattern, permission, expires_at].join()
        )
        .sort(),
      found: found.data.map(({ env, project }) => `${project}/${env}`),
      hasAccess: members.find(({ user_id }) => user_id === actor.id)?.has_access
    }
  })

describe("a rule that has ended", () => {
  const ruleOf = fc.record({
    permission: fc.constantFrom(...permissions),
    project: fc.constantFrom("*", "webshop", "a?i", "{webshop,api}"),
    env: fc.constantFrom("*", "dev", "prod"),
    ends: fc.constantFrom(null, "past", "now", "soon", "later")
  })
  const endAt = { past: -1, now: 0, soon: 1, later: hour }

  it.effect("equals no rule, and one that has not ended equals one that lasts, whatever is asked", () =>
    withRules(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* newProject(ada, "api")
        for (const project of ["webshop", "api"]) {
          for (const env of ["dev", "prod"]) yield* setSecret(ada, "SHARED", "x", { path: envPath(env, project) })
        }
        yield* TestClock.setTime(hour)
        let subjects = 0
        const sampled = fc.sample(
          fc.record({
            isPerson: fc.boolean(),
            rules: fc.uniqueArray(ruleOf, { selector: (rule) => `${rule.project} ${rule.env}` })
          }),
          runs(60)
        )
        for (const { isPerson, rules } of sampled) {
          const subject = () =>
            isPerson ? member(`p${++subjects}@example.com`, "developer") : account(`a${++subjects}`)
          const [tried, control] = [yield* subject(), yield* subject()]
          for (const { ends, ...rule } of rules) {
            const end = ends === null ? {} : { ends: hour + endAt[ends] }
            yield* grant(tried, rule.permission, { ...rule, ...end })
            const isLive = ends === null || endAt[ends] > 0
            // The control has only what is left, for as long.
            if (isLive) yield* grant(control, rule.permission, { ...rule, ...end })
          }
          assert.deepStrictEqual(yield* seen(ada, tried), yield* seen(ada, control), JSON.stringify(rules))
        }
      })
    )
  )

  it.effect("is refused if it would have ended already, or ends in more than ten years", () =>
    withRules(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* member("bob@example.com", "developer")
        yield* TestClock.setTime(Date.parse("2026-06-01T12:00:00Z"))
        const refusal = (expires_at: string) =>
          Effect.map(Effect.flip(granting(ada, { ...toBob, permission: "read", expires_at })), ({ message }) => message)
        for (const past of ["2026-06-01", "2026-06-01T12:00:00Z", yield* timeIn(-1)]) {
          assert.strictEqual(
            yield* refusal(past),
            "expires_at: must be in the future; the server's time is 2026-06-01T12:00:00.000Z"
          )
        }
        assert.match(yield* refusal("2036-05-30"), /at most 3,650 days/)
        const last = yield* granting(ada, { ...toBob, permission: "read", expires_at: "2036-05-29T12:00:00Z" })
        assert.strictEqual(last.rule.expires_at, "2036-05-29T12:00:00.000Z")
      })
    )
  )

  it.effect("is set by each grant: one without an end makes the rule last, one after the end makes a new rule", () =>
    withRules(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        const ends = (millis: number, permission: Permission = "read") =>
          Effect.flatMap(timeIn(millis), (expires_at) => granting(ada, { ...toBob, permission, expires_at }))

        const first = yield* ends(hour)
        const longer = yield* ends(2 * hour, "write")
        assert.deepStrictEqual([longer.created, longer.rule.id], [false, first.rule.id])
        const lasting = yield* granting(ada, { ...toBob, permission: "use" })
        assert.deepStrictEqual([lasting.rule.id, lasting.rule.expires_at], [first.rule.id, undefined])
        yield* TestClock.adjust("1 days")
        assert.strictEqual(yield* outcome(entering(bob, "secret.use")), "success")

        yield* ends(hour)
        yield* TestClock.adjust(hour - 1)
        assert.strictEqual(yield* outcome(entering(bob, "secret.read")), "success")
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* outcome(entering(bob, "secret.read")), "Forbidden")
        assert.deepStrictEqual(yield* Effect.flatMap(inOrg("acl.list"), (yield* Acl).list).pipe(asActor(ada)), [])
        const acl = yield* Acl
        const revoked = transaction(
          Effect.flatMap(inOrg("acl.revoke"), (place) => acl.revoke(place, first.rule.id))
        ).pipe(asActor(ada))
        assert.strictEqual(yield* outcome(revoked), "NotFound")

        const again = yield* ends(hour)
        assert.isTrue(again.created)
        assert.notStrictEqual(again.rule.id, first.rule.id)
        const log = yield* entries()
        assert.deepStrictEqual(actions(log), [...Array(4).fill("acl.grant"), "acl.expire", "acl.grant"])
        const [, second, third] = log.filter(({ action }) => action === "acl.grant").map(({ metadata }) => metadata)
        assert.deepInclude(second as object, {
          before: "read",
          expires_at: "1970-01-01T02:00:00.000Z",
          expires_at_before: "1970-01-01T01:00:00.000Z"
        })
        assert.notProperty(third, "expires_at")
      })
    )
  )

  it.effect("is explained with its end, and behind one that lasts longer", () =>
    withRules(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "write", { ends: hour })
        yield* grant(bob, "write", { env: "prod", ends: 2 * hour })
        yield* grant(bob, "write", { project: "webshop", env: "dev" })
        const { data } = yield* Effect.flatMap(inOrg("acl.explain"), (place) =>
          Effect.flatMap(AccessTable, (table) => table.read(place, { subject: email("bob@example.com") }))
        ).pipe(asActor(ada))
        assert.deepStrictEqual(
          data.map(({ because, env }) => [env, because?.expires_at]),
          [
            ["dev", undefined],
            ["prod", "1970-01-01T02:00:00.000Z"],
            ["staging", "1970-01-01T01:00:00.000Z"]
          ]
        )
        const { because } = yield* Effect.flatMap(inOrg("acl.explain"), (place) =>
          Effect.flatMap(Acl, (acl) =>
            acl.explain(
              place,
              { subject_type: "user", email: bob.email },
              ProjectName.make("webshop"),
              EnvName.make("prod")
            )
          )
        ).pipe(asActor(bob))
        assert.sameMembers(
          because.map(({ expires_at }) => expires_at),
          ["1970-01-01T01:00:00.000Z", "1970-01-01T02:00:00.000Z"]
        )
      })
    )
  )

  it.effect("does not let a service account grant what lasts longer, its own rule included", () =>
    withRules(
      Effect.gen(function* () {
        yield* organization()
        const [ci, other] = [yield* account("ci"), yield* account("other")]
        yield* grant(ci, "admin", { ends: 2 * hour })
        yield* grant(ci, "admin", { project: "webshop", env: "dev", ends: hour })
        const attempt = (id: typeof ci.id, project: string, env: string, millis?: number) =>
          Effect.gen(function* () {
            const end = millis === undefined ? {} : { expires_at: yield* timeIn(millis) }
            return yield* granting(ci, {
              ...{ subject_type: "service_account", subject_id: id, permission: "admin" },
              ...patterns(project, env),
              ...end
            })
          }).pipe(outcome)
        assert.strictEqual(yield* attempt(ci.id, "*", "*"), "Forbidden")
        assert.strictEqual(yield* attempt(ci.id, "*", "*", 2 * hour + 1), "Forbidden")
        assert.strictEqual(yield* attempt(other.id, "webshop", "dev"), "Forbidden")
        assert.strictEqual(yield* attempt(other.id, "webshop", "dev", 2 * hour), "success")
        yield* grant(ci, "admin", { project: "{webshop,api}" })
        assert.strictEqual(yield* attempt(other.id, "webshop", "dev"), "Forbidden")
        assert.strictEqual(yield* attempt(other.id, "{webshop,api}", "*"), "success")
        assert.include(actions(yield* entries()), "acl.grant")
      })
    )
  )

  it.effect("is removed by maintenance with one entry, and is not counted or removed with a removed member", () =>
    withRules(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        for (let n = 0; n < 130; n++) yield* grant(bob, "read", { env: `e${n}`, ends: n + 1 })
        yield* grant(bob, "read", { ends: hour })
        yield* grant(bob, "read", { env: "lasts" })
        yield* TestClock.adjust(130)
        const members = yield* Members
        yield* transaction(Effect.flatMap(inOrg("member.remove"), (place) => members.remove(place, bob.id))).pipe(
          asActor(ada)
        )
        yield* sweep
        yield* sweep
        const log = yield* entries()
        assert.strictEqual(actions(log).length, 130)
        assert.deepInclude(log.find(({ action }) => action === "org.member_remove")?.metadata as object, {
          rules_removed: 2
        })
        const [expired] = log.filter(({ action }) => action === "acl.expire")
        assert.deepInclude(expired, { actor: "expiry", actor_type: "system", resource_type: "acl_rule" })
        assert.deepInclude(expired?.metadata as object, {
          email: "bob@example.com",
          permission: "read",
          expires_at: "1970-01-01T00:00:00.001Z"
        })
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT 1 FROM acl_rules WHERE removed_at IS NULL`, [])
      })
    )
  )
})
