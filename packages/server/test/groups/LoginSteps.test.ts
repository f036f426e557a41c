import type { UserActor } from "@coffer/domain/access/Actor"
import { OrgId } from "@coffer/domain/base/Ids"
import { loginGroups } from "@coffer/server/access/place/PlaceRow"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Access } from "@coffer/server/access/Access"
import { Database } from "@coffer/server/database/Database"
import { endedAtOnce } from "@coffer/server/database/InSteps"
import { fencedByNothing } from "@coffer/server/database/jobs/Lease"
import { query } from "@coffer/server/database/Query"
import { groupLoginCompletion, makeLoginGroups } from "@coffer/server/directory/groups/LoginGroups"
import { Identities } from "@coffer/server/directory/identities/Identities"
import { addressScope } from "@coffer/server/database/Scopes"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Layer, Schema } from "effect"
import { largest, ScopesChecked } from "../support/Scoped.js"
import { asActor, envPath, onDatabase, organization, outcome, person, transaction, uuid } from "../support/Services.js"
import { issuer, providerSettings } from "./Support.js"

const bobsAddress = "bob@example.com"
const at = "2026-01-01T00:00:00.000Z"

/** More organizations than the transaction of a login and one step after it reach. */
const many = 45

const run = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.provide(Layer.provideMerge(Identities.Default, ScopesChecked)), onDatabase(providerSettings))

/** A login at the provider of a person in these groups there. */
const logIn = (...groups: ReadonlyArray<string>) =>
  Effect.flatMap(Identities, (identities) =>
    identities.logIn(
      { issuer, sub: bobsAddress, email: bobsAddress, isVerified: true, provenAt: null, groups },
      (user) => Effect.succeed({ result: user.id, resource: { resource_type: "user", resource_id: user.id } })
    )
  )

/** The transaction of a login alone, as a server leaves it that is killed then. */
const cutOff = (bob: UserActor, ...groups: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { bring } = yield* makeLoginGroups
    const { change } = yield* Database
    return yield* change([addressScope(bobsAddress)], bring(bob.id, groups))
  })

const maintenance = Effect.flatMap(Effect.all([groupLoginCompletion, Database]), ([{ run }, database]) =>
  run(fencedByNothing(database))
)

/** Inserts rows, some at a time. */
const insertAll = (table: string, rows: ReadonlyArray<Record<string, string | null>>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(Array.chunksOf(rows, 1_000), (some) => sql`INSERT INTO ${sql(table)} ${sql.insert(some)}`)
  )

/**
 * Organizations that bob is a member of, and that map names of the provider to groups of the same names. With that of `acme`, whose
 * id is greater, in the order of ids.
 */
const organizations = (
  names: ReadonlyArray<string>,
  options: { readonly accepted?: boolean; readonly count?: number } = {}
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* organization()
    const bob = yield* person(bobsAddress)
    const [acme] = yield* sql<{ id: string }>`SELECT id FROM organizations`
    const stamps = { created_at: at, updated_at: at }
    const made = Array.makeBy((options.count ?? many) - 1, (index) => ({
      id: `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`,
      name: `org-${index}`,
      ...stamps
    }))
    yield* insertAll("organizations", made)
    const audit = yield* AuditLog
    yield* transaction(
      Effect.forEach(made, ({ id }) =>
        audit.change(
          { actor: { type: "user", id: bob.id, name: bobsAddress }, orgId: OrgId.make(id) },
          { action: "org.create", resource_type: "org", resource_id: id }
        )
      )
    )
    const ids = [...made, { id: acme?.id ?? "" }].map(({ id }) => id)
    const accepted_at = options.accepted === false ? null : at
    yield* insertAll(
      "members",
      ids.map((org_id) => ({ id: uuid(), org_id, user_id: bob.id, role: "developer", ...stamps, accepted_at }))
    )
    const [ada] = yield* sql<{ user_id: string }>`SELECT user_id FROM members WHERE role = 'owner'`
    yield* insertAll(
      "members",
      made.map(({ id }) => ({
        ...{ id: uuid(), org_id: id, user_id: ada?.user_id ?? "", role: "owner", ...stamps, accepted_at: at }
      }))
    )
    const groups = ids.flatMap((org_id) =>
      names.map((name) => ({ id: uuid(), org_id, name, created_by: "ada@example.com", ...stamps }))
    )
    yield* insertAll("groups", groups)
    yield* insertAll(
      "group_mappings",
      groups.map(({ id, name, org_id }) => ({ org_id, provider_group: name, group_id: id }))
    )
    yield* insertAll(
      "acl_rules",
      groups.map(({ id, org_id }) => ({
        ...{ id: uuid(), org_id, subject_type: "group", subject_id: id, project_pattern: "*", env_pattern: "*" },
        ...{ permission: "read", created_by: "ada@example.com", ...stamps }
      }))
    )
    return { bob, ids }
  })

/** How many organizations a person has each group in, by what rights are read from. */
const held = (bob: UserActor) =>
  Effect.gen(function* () {
    const { all } = yield* query
    const Row = Schema.Struct({ name: Schema.String, orgs: Schema.Number })
    const rows = yield* all(Row)`
      SELECT (SELECT g.name FROM groups g WHERE g.id = gx.group_id) AS name, count(DISTINCT gx.org_id) AS orgs
      FROM ${loginGroups} AND lg.user_id = ${"userId"} GROUP BY 1 ORDER BY 1`({ userId: bob.id })
    return Object.fromEntries(rows.map(({ name, orgs }) => [name, orgs]))
  })

const reads = (bob: UserActor) =>
  outcome(Effect.flatMap(Access, (access) => access.env(envPath(), "secret.read")).pipe(asActor(bob)))

const left = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql`SELECT user_id FROM group_logins`, ({ length }) => length)
)

/** The facts of the entries about groups of logins, by organization, in order. */
const told = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ log: string; metadata: string }>`
    SELECT log, metadata FROM audit_entries WHERE action = 'group.login' ORDER BY log, seq`
  return Array.groupBy(
    rows.map(({ log, metadata }) => {
      const { added, removed } = JSON.parse(metadata) as Record<"added" | "removed", ReadonlyArray<string>>
      return { log, fact: `+${added.join()} -${removed.join()}` }
    }),
    ({ log }) => log
  )
})

/** Each organization has had these entries, and no others. */
const assertTold = (ids: ReadonlyArray<string>, ...facts: ReadonlyArray<string>) =>
  Effect.map(told, (found) => {
    for (const id of ids)
      assert.deepStrictEqual(
        (found[id] ?? []).map(({ fact }) => fact),
        facts,
        id
      )
    assert.lengthOf(Object.keys(found), facts.length === 0 ? 0 : ids.length)
  })

describe("the groups of a login in more organizations than one transaction writes", () => {
  it.effect("are in all of them when the login returns, with an entry in each that changed", () =>
    Effect.gen(function* () {
      const { bob, ids } = yield* organizations(["a", "b", "c"])
      yield* logIn("a", "b", "unknown", "control\u0000", "x".repeat(257))
      assert.deepStrictEqual(yield* held(bob), { a: many, b: many })
      assert.strictEqual(yield* reads(bob), "success")
      yield* assertTold(ids, "+a,b -")
      yield* logIn("b", "a")
      yield* assertTold(ids, "+a,b -")
      yield* logIn("b", "c")
      assert.deepStrictEqual(yield* held(bob), { b: many, c: many })
      yield* logIn()
      assert.deepStrictEqual(yield* held(bob), {})
      assert.strictEqual(yield* reads(bob), "Forbidden")
      yield* assertTold(ids, "+a,b -", "+c -a", "+ -b,c")
      assert.strictEqual(yield* left, 0)
    }).pipe(run)
  )

  it.effect("are written some hundred rows at a time, however many names an organization maps", () =>
    Effect.gen(function* () {
      const names = Array.makeBy(200, (index) => `group ${String(index).padStart(3, "0")}`)
      const { bob } = yield* organizations(names)
      // The names of the login itself, those of the organization that passes the bound, and the entries of the log.
      const most = names.length + names.length + endedAtOnce + 100
      largest.rows = 0
      yield* logIn(...names)
      assert.isAtMost(largest.rows, most)
      assert.isAtLeast(largest.rows, 2 * names.length)
      const rights = Object.values(yield* held(bob))
      assert.deepStrictEqual([rights.length, Array.dedupe(rights)], [names.length, [many]])
      largest.rows = 0
      yield* logIn(...names.slice(1))
      assert.isAtMost(largest.rows, most)
      assert.strictEqual((yield* held(bob))[names[0] ?? ""], undefined)
    }).pipe(run)
  )

  it.effect("end everywhere with the first transaction, if the server is killed then: maintenance does the rest", () =>
    Effect.gen(function* () {
      const { bob, ids } = yield* organizations(["a", "b", "c"])
      yield* logIn("a", "c")
      assert.isTrue((yield* cutOff(bob, "b", "c")).hasMore)
      const { a, b = 0, c } = yield* held(bob)
      assert.deepStrictEqual([a, c], [undefined, many])
      assert.isTrue(b > 0 && b < many, `${b} organizations`)
      yield* maintenance
      assert.deepStrictEqual(yield* held(bob), { b: many, c: many })
      yield* assertTold(ids, "+a,c -", "+b -a")
      assert.strictEqual(yield* left, 0)
      yield* maintenance
      yield* assertTold(ids, "+a,c -", "+b -a")
    }).pipe(run)
  )

  it.effect(
    "are those of the next login, if that comes before maintenance: each organization has one entry of both",
    () =>
      Effect.gen(function* () {
        const { bob, ids } = yield* organizations(["a", "b", "c"])
        yield* logIn("a")
        yield* cutOff(bob, "b")
        const reached = (yield* held(bob))["b"] ?? 0
        yield* logIn("c")
        assert.deepStrictEqual(yield* held(bob), { c: many })
        const found = yield* told
        const factsOf = (id: string) => (found[id] ?? []).map(({ fact }) => fact)
        for (const id of ids.slice(0, reached)) assert.deepStrictEqual(factsOf(id), ["+a -", "+b -a", "+c -b"])
        for (const id of ids.slice(reached)) assert.deepStrictEqual(factsOf(id), ["+a -", "+c -a"])
      }).pipe(run)
  )

  it.effect("are those of the last of two logins at once, and the entries of each organization add up to them", () =>
    Effect.gen(function* () {
      const { bob, ids } = yield* organizations(["a", "b", "c"])
      yield* Effect.all([logIn("a", "c"), logIn("b", "c")], { concurrency: "unbounded" })
      const groups = yield* held(bob)
      assert.include(
        [JSON.stringify({ a: many, c: many }), JSON.stringify({ b: many, c: many })],
        JSON.stringify(groups)
      )
      const found = yield* told
      for (const id of ids) {
        const sum = new Set<string>()
        for (const { fact } of found[id] ?? []) {
          const [added = "", removed = ""] = fact.slice(1).split(" -")
          for (const name of removed.split(",")) if (name !== "") assert.isTrue(sum.delete(name), `${id}: ${fact}`)
          for (const name of added.split(",")) if (name !== "") sum.add(name)
        }
        assert.deepStrictEqual([...sum].sort(), Object.keys(groups))
      }
      assert.strictEqual(yield* left, 0)
    }).pipe(run)
  )

  it.effect("are told exactly where the person accepts between the steps", () =>
    Effect.gen(function* () {
      const { bob, ids } = yield* organizations(["a", "b", "c"], { accepted: false })
      yield* logIn("a", "c")
      yield* assertTold(ids)
      yield* cutOff(bob, "b", "c")
      assert.strictEqual(yield* reads(bob), "success")
      yield* maintenance
      yield* assertTold(ids.slice(-1), "+a,c -", "+b -a")
      assert.deepStrictEqual(yield* held(bob), { b: many, c: many })
    }).pipe(run)
  )
})
