import { createHash } from "node:crypto"
import type { Actor, Delegated, ServiceAccountActor } from "@coffer/domain/access/Actor"
import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import { DelegationId, EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import type { Role } from "@coffer/domain/directory/Member"
import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Database } from "@coffer/server/database/Database"
import { Holders } from "@coffer/server/directory/acl/Holders"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"
import {
  account,
  asActor,
  entries,
  envPath,
  grant,
  key,
  member,
  newProject,
  onDatabase,
  organization,
  outcome,
  person,
  readSecret,
  setSecret,
  transaction,
  uuid
} from "../support/Services.js"

const withHolders = <A, E, R>(test: Effect.Effect<A, E, R>) => test.pipe(Effect.provide(Holders.Default), onDatabase())

type Request = Parameters<Holders["read"]>[1]

const page = (actor: Actor, request: Request = {}, path = envPath()) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.env(path, "access.list")).pipe(asActor(actor))
    return yield* (yield* Holders).read(place, request)
  })

/** All pages. */
const holders = (actor: Actor, request: Request = {}, path = envPath()) =>
  Effect.gen(function* () {
    const found: Array<Effect.Effect.Success<ReturnType<typeof page>>["data"][number]> = []
    for (let after: string | null | undefined = undefined; after !== null;) {
      const next: Effect.Effect.Success<ReturnType<typeof page>> = yield* page(
        actor,
        { ...request, ...(after !== undefined && { after }) },
        path
      )
      found.push(...next.data)
      after = next.pagination.next_cursor
    }
    return found
  })

const stamp = "1970-01-01T00:00:00.000Z"
const hour = 3_600_000

const idOf = (table: "organizations" | "projects" | "environments", name: string, above?: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ id: string }>`
      SELECT id FROM ${sql(table)} WHERE name = ${name} ${above === undefined ? sql`` : sql`AND project_id = ${above}`}`
    return rows[0]?.id ?? assert.fail(name)
  })

// The oracle: what the specification says, written without the code that decides.

const patternForms = ["*", "webshop", "api", "web*", "*i", "a?i", "{webshop,api}"] as const
const envForms = ["*", "prod", "dev", "pr*", "*v", "?rod", "{dev,staging}"] as const

/** Everything, names that start or end with a text, one character for each `?`, and alternatives. */
const fits = (pattern: string, name: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/\{(.*)\}/, (_all, inside: string) => `(${inside.split(",").join("|")})`)
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`
  ).test(name)

interface Rule {
  readonly permission: Permission
  readonly project: string
  readonly env: string
  readonly ends: "never" | "past" | "later"
  readonly revoked: boolean
}

const rank = (permission: Permission) => ["use", "read", "write", "admin"].indexOf(permission)

const gives = (rules: ReadonlyArray<Rule>, wanted: Permission, project: string, env: string): boolean =>
  rules.some(
    (rule) =>
      !rule.revoked &&
      rule.ends !== "past" &&
      fits(rule.project, project) &&
      fits(rule.env, env) &&
      rank(rule.permission) >= rank(wanted)
  )

/** Owners and admins need no rule; members never write; superadmins bypass all. */
const mayPerson = (
  { role, superadmin }: { readonly role: Role; readonly superadmin: boolean },
  rules: ReadonlyArray<Rule>,
  wanted: Permission,
  project: string,
  env: string
): boolean =>
  superadmin ||
  role === "owner" ||
  role === "admin" ||
  (gives(rules, wanted, project, env) && (role === "developer" || rank(wanted) <= rank("read")))

const ruleForm: fc.Arbitrary<Rule> = fc.record({
  permission: fc.constantFrom(...permissions),
  project: fc.constantFrom(...patternForms),
  env: fc.constantFrom(...envForms),
  ends: fc.constantFrom("never", "never", "past", "later"),
  revoked: fc.constantFrom(false, false, false, true)
})
const rulesForm = fc.uniqueArray(ruleForm, { maxLength: 3, selector: ({ env, project }) => `${project}/${env}` })

const delegationForm = fc.record({
  permission: fc.constantFrom("use", "read", "write" as const),
  env: fc.constantFrom("prod", "dev"),
  also: fc.constantFrom(null, "dev", "prod"),
  keys: fc.constantFrom(null, ["SHARED"], ["OTHER"]),
  ended: fc.constantFrom(false, false, true)
})

const personForm = fc.record({
  role: fc.constantFrom("owner", "admin", "developer", "member" as Role),
  superadmin: fc.constantFrom(false, false, false, true),
  disabled: fc.constantFrom(false, false, false, true),
  rules: rulesForm,
  groups: fc.subarray([0, 1]),
  delegations: fc.array(delegationForm, { maxLength: 2 })
})

const accountForm = fc.record({
  scope: fc.constantFrom(null, "webshop", "api"),
  reveal: fc.boolean(),
  revoked: fc.constantFrom(false, false, true),
  rules: rulesForm
})

const worldForm = fc.record({
  people: fc.array(personForm, { minLength: 1, maxLength: 5 }),
  accounts: fc.array(accountForm, { maxLength: 3 }),
  groups: fc.tuple(rulesForm, rulesForm),
  limit: fc.constantFrom(1, 2, 3, 100)
})
type World = typeof worldForm extends fc.Arbitrary<infer A> ? A : never

/** Puts a world into the database. Returns its actors, as they enter. */
const build = (world: World) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const now = yield* (yield* Database).clock
    const ada = yield* organization()
    yield* newProject(ada, "api")
    const orgId = yield* idOf("organizations", "acme")
    const ends = { never: null, past: now - hour, later: now + hour }
    const insertRules = (type: string, id: string, rules: ReadonlyArray<Rule>) =>
      Effect.forEach(
        rules,
        (rule) =>
          sql`INSERT INTO acl_rules ${sql.insert({
            id: uuid(),
            org_id: orgId,
            subject_type: type,
            subject_id: id,
            project_pattern: rule.project,
            env_pattern: rule.env,
            permission: rule.permission,
            expires_at: ends[rule.ends],
            created_by: "ada@example.com",
            created_at: stamp,
            updated_at: stamp,
            removed_at: rule.revoked ? stamp : null
          })}`
      )
    const groupIds = yield* Effect.forEach(world.groups, (rules, index) =>
      Effect.gen(function* () {
        const id = uuid()
        const row = {
          id,
          org_id: orgId,
          name: `group ${index}`,
          created_by: "ada",
          created_at: stamp,
          updated_at: stamp
        }
        yield* sql`INSERT INTO groups ${sql.insert(row)}`
        yield* insertRules("group", id, rules)
        return id
      })
    )
    const webshop = yield* idOf("projects", "webshop")
    const people = yield* Effect.forEach(world.people, (one, index) =>
      Effect.gen(function* () {
        const actor = yield* member(`person-${index}@example.com`, one.role)
        yield* sql`UPDATE users SET superadmin = ${one.superadmin ? 1 : 0}, disabled_at = ${one.disabled ? stamp : null}
          WHERE id = ${actor.id}`
        yield* insertRules("user", actor.id, one.rules)
        for (const group of one.groups) {
          const row = {
            user_id: actor.id,
            org_id: orgId,
            group_id: groupIds[group]!,
            added_by: "ada",
            created_at: stamp
          }
          yield* sql`INSERT INTO group_members ${sql.insert(row)}`
        }
        const delegations = yield* Effect.forEach(one.disabled ? [] : one.delegations, (each, position) =>
          Effect.gen(function* () {
            const id = uuid()
            const envs = [...new Set([each.env, ...(each.also === null ? [] : [each.also])])]
            const ids = yield* Effect.forEach(envs, (env) => idOf("environments", env, webshop))
            const expires = each.ended ? now - 1 : now + hour
            yield* sql`INSERT INTO delegations ${sql.insert({
              id,
              user_id: actor.id,
              org_id: orgId,
              env_id: ids[0]!,
              name: `delegation ${position}`,
              token_hash: createHash("sha256").update(id).digest("hex"),
              permission: each.permission,
              reveal: 1,
              keys: each.keys === null ? null : JSON.stringify(each.keys),
              created_at: now - 2 * hour,
              expires_at: expires
            })}`
            if (ids[1] !== undefined) {
              const further = { delegation_id: id, env_id: ids[1], position: 1 }
              yield* sql`INSERT INTO delegation_environments ${sql.insert(further)}`
            }
            const [first, ...rest] = envs.map((env, index) => ({
              project: { id: ProjectId.make(webshop), name: ProjectName.make("webshop") },
              env: { id: EnvId.make(ids[index]!), name: EnvName.make(env) }
            }))
            const delegation: Delegated = {
              id: DelegationId.make(id),
              name: `delegation ${position}`,
              org: { id: OrgId.make(orgId), name: OrgName.make("acme") },
              places: [first!, ...rest],
              permission: each.permission,
              reveal: true,
              keys: each.keys === null ? null : new Set(each.keys.map((text) => SecretKey.make(text))),
              ofSuperadmin: one.superadmin,
              isConnected: false,
              createdAt: stamp,
              expiresAt: stamp
            }
            return {
              id,
              ...each,
              envs,
              actor: { ...actor, superadmin: false, sessionId: null, delegation }
            }
          })
        )
        return { ...one, actor: { ...actor, superadmin: one.superadmin }, delegations }
      })
    )
    const accounts = yield* Effect.forEach(world.accounts, (one, index) =>
      Effect.gen(function* () {
        const actor = yield* account(`account-${index}`, {
          reveal: one.reveal,
          ...(one.scope !== null && { project: one.scope })
        })
        yield* insertRules("service_account", actor.id, one.rules)
        if (one.revoked) yield* sql`UPDATE service_accounts SET removed_at = ${stamp} WHERE id = ${actor.id}`
        return { ...one, actor: actor satisfies ServiceAccountActor }
      })
    )
    return { ada, people, accounts, groupIds }
  })

/** The action that needs each permission, for the doors. */
const doors = { use: "secret.use", read: "secret.list", write: "secret.write", admin: "secret.destroy" } as const

const enters = (actor: Actor, permission: Permission, env: string, project: string) =>
  Effect.map(
    outcome(
      Effect.flatMap(Access, (access) => access.right(envPath(env, project), doors[permission])).pipe(asActor(actor))
    ),
    (found) => found === "success"
  )

describe("who has a permission in an environment", () => {
  it.effect(
    "is whom the specification lets in, and whom the decisions let in, whatever roles, rules, groups and delegations there are",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(worldForm, (world) =>
            Effect.gen(function* () {
              const { accounts, ada, groupIds, people } = yield* build(world)
              for (const [project, env] of [
                ["webshop", "prod"],
                ["api", "dev"]
              ] as const) {
                for (const wanted of permissions) {
                  for (const asked of [undefined, "SHARED"]) {
                    const told = `${wanted} of ${asked ?? "all"} in ${project}/${env}`
                    const found = yield* holders(
                      ada,
                      { permission: wanted, limit: world.limit, ...(asked !== undefined && { key: key(asked) }) },
                      envPath(env, project)
                    )
                    const rulesOf = (one: World["people"][number]) => [
                      ...one.rules,
                      ...one.groups.flatMap((group) => world.groups[group] ?? [])
                    ]
                    const may = (one: World["people"][number]) => mayPerson(one, rulesOf(one), wanted, project, env)
                    const expected = [
                      ...groupIds.filter((_, index) => gives(world.groups[index] ?? [], wanted, project, env)),
                      ...accounts
                        .filter(
                          ({ revoked, rules, scope }) =>
                            !revoked && (scope === null || scope === project) && gives(rules, wanted, project, env)
                        )
                        .map(({ actor }) => actor.id),
                      ada.id,
                      ...people.filter((one) => !one.disabled && may(one)).map(({ actor }) => actor.id)
                    ]
                    assert.deepStrictEqual(found.map(({ id }): string => id).sort(), expected.sort(), told)
                    const delegated = people.flatMap((one) =>
                      one.disabled || !may(one)
                        ? []
                        : one.delegations
                            .filter(
                              ({ ended, envs, keys, permission }) =>
                                !ended &&
                                project === "webshop" &&
                                envs.includes(env) &&
                                rank(permission) >= rank(wanted) &&
                                (asked === undefined || keys === null || keys.some((one) => one === asked))
                            )
                            .map(({ id }) => id)
                    )
                    const shown = found.flatMap(({ delegations = [] }) => delegations.map(({ id }): string => id))
                    assert.deepStrictEqual(shown.sort(), delegated.sort(), told)
                    // The doors: the decisions of requests.
                    for (const { actor, delegations, disabled } of people) {
                      if (disabled) continue
                      const isIn = yield* enters(actor, wanted, env, project)
                      assert.strictEqual(
                        found.some(({ id }) => id === actor.id),
                        isIn,
                        `${told} by the door of ${actor.email}`
                      )
                      for (const one of delegations) {
                        if (one.ended || asked !== undefined) continue
                        assert.strictEqual(
                          shown.includes(one.id),
                          yield* enters(one.actor, wanted, env, project),
                          `${told} by the door of a delegation`
                        )
                      }
                    }
                    for (const { actor, revoked } of accounts) {
                      if (revoked) continue
                      assert.strictEqual(
                        found.some(({ id }) => id === actor.id),
                        yield* enters(actor, wanted, env, project),
                        `${told} by the door of ${actor.name}`
                      )
                    }
                  }
                }
              }
            }).pipe(withHolders, Effect.runPromise)
          ),
          { numRuns: runs(40) }
        )
      ),
    120_000
  )

  it.effect("says which role or rule gives it for longest, and until when", () =>
    withHolders(
      Effect.gen(function* () {
        const ada = yield* organization()
        const now = yield* (yield* Database).clock
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "write", { project: "webshop", env: "*", ends: now + hour })
        yield* grant(bob, "read", { project: "*", env: "prod" })
        const [first, second] = (yield* holders(ada)).sort((one, other) => (one.email! < other.email! ? -1 : 1))
        assert.deepInclude(first, { email: ada.email, permission: "admin", last_used_at: null })
        assert.deepStrictEqual(first?.because, { by: "role", role: "owner", permission: "admin" })
        assert.strictEqual(second?.permission, "write")
        const { rule_id: _, ...because } = second!.because
        assert.deepStrictEqual(because, {
          by: "rule",
          permission: "read",
          project_pattern: "*",
          env_pattern: "prod"
        })
        const [writer] = (yield* holders(ada, { permission: "write" })).filter(({ id }) => id === bob.id)
        assert.strictEqual(writer?.because.expires_at, new Date(now + hour).toISOString())
      })
    )
  )

  it.effect("marks who has the highest permission for some keys only, by a rule or by what another one denies", () =>
    withHolders(
      Effect.gen(function* () {
        const ada = yield* organization()
        const sql = yield* SqlClient.SqlClient
        const developer = (name: string) => member(`${name}@example.com`, "developer")
        const [all, some] = [yield* developer("all"), yield* developer("some")]
        const [higher, denied] = [yield* developer("higher"), yield* developer("denied")]
        const patterns = { project: "webshop", env: "prod" }
        yield* grant(all, "read", patterns)
        yield* grant(some, "read", patterns)
        yield* sql`UPDATE acl_rules SET key_pattern = 'DB_*' WHERE subject_id = ${some.id}`
        yield* grant(higher, "read", patterns)
        yield* grant(higher, "write", { project: "*", env: "prod" })
        yield* sql`UPDATE acl_rules SET key_pattern = 'DB_*' WHERE subject_id = ${higher.id} AND permission = 'write'`
        yield* grant(denied, "read", patterns)
        yield* grant(denied, "use", { project: "*", env: "prod" })
        yield* sql`UPDATE acl_rules SET key_pattern = 'DB_*', denies = 1
          WHERE subject_id = ${denied.id} AND permission = 'use'`
        const rights = (yield* holders(ada)).map(({ email, for_some = false, permission }) => [
          email?.split("@")[0],
          permission,
          for_some
        ])
        assert.sameDeepMembers(rights, [
          ["ada", "admin", false],
          ["all", "read", false],
          ["some", "read", true],
          ["higher", "write", true],
          ["denied", "read", true]
        ])
      })
    )
  )

  it.effect("says when they last used it there, or used one secret, by the audit log", () =>
    withHolders(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "write")
        yield* setSecret(ada, "SHARED", "x")
        yield* setSecret(ada, "OTHER", "y")
        yield* readSecret(bob, "SHARED")
        yield* (yield* AuditLog).flush
        const of = (request: Request, path = envPath()) =>
          Effect.map(holders(ada, request, path), (found) => {
            const last = found.find(({ id }) => id === bob.id)?.last_used_at
            return last === null ? "never" : typeof last
          })
        assert.strictEqual(yield* of({}), "string")
        assert.strictEqual(yield* of({ key: key("SHARED") }), "string")
        assert.strictEqual(yield* of({ key: key("OTHER") }), "never")
        assert.strictEqual(yield* of({ permission: "use" }), "string")
        assert.strictEqual(yield* of({ permission: "write" }), "never")
        assert.strictEqual(yield* of({}, envPath("dev")), "never")
      })
    )
  )

  it.effect("records who reviewed it, with how many have it, and shows the newest review", () =>
    withHolders(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read")
        yield* grant(yield* account("ci"), "write")
        assert.notProperty(yield* page(ada), "reviewed")
        const reviewed = yield* Effect.gen(function* () {
          const all = yield* Holders
          const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "access.review"))
          const counted = yield* all.count(place)
          return yield* transaction(all.review(place, counted, "Q4"))
        }).pipe(asActor(ada))
        const counts = { permission: "read", people: 2, service_accounts: 1, groups: 0, delegations: 0 }
        assert.deepInclude(reviewed, { by: "ada@example.com", ...counts })
        const entry = (yield* entries()).at(-1)
        assert.deepInclude(entry, { action: "acl.review", actor: "ada@example.com" })
        assert.deepInclude(entry?.metadata, { ...counts, note: "Q4", project: "webshop", env: "prod" })
        assert.deepInclude((yield* page(ada)).reviewed, { by: "ada@example.com" })
        assert.notProperty(yield* page(ada, {}, envPath("dev")), "reviewed")
      })
    )
  )

  it.effect("is for owners and admins, and counts superadmins who are no members without naming them", () =>
    withHolders(
      Effect.gen(function* () {
        const ada = yield* organization()
        const admin = yield* member("admin@example.com", "admin")
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "admin")
        const ci = yield* account("ci")
        yield* grant(ci, "admin")
        const root = yield* person("root@example.com", { superadmin: true })
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE users SET superadmin = 1 WHERE id = ${root.id}`
        assert.strictEqual(yield* outcome(page(bob)), "Forbidden")
        assert.strictEqual(yield* outcome(page(ci)), "Forbidden")
        assert.strictEqual(yield* outcome(page(admin)), "success")
        const found = yield* page(ada)
        assert.strictEqual(found.superadmins, 1)
        assert.notInclude(JSON.stringify(found), "root@example.com")
        assert.deepStrictEqual(found.data.map(({ email, name }) => email ?? name).sort(), [
          "ada@example.com",
          "admin@example.com",
          "bob@example.com",
          "ci"
        ])
      })
    )
  )
})
