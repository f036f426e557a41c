import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Actor } from "@coffer/domain/access/Actor"
import { ProjectName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { ServerConfig } from "@coffer/server/base/Config"
import { Database } from "@coffer/server/database/Database"
import { fencedByNothing } from "@coffer/server/database/jobs/Lease"
import { AccessTable } from "@coffer/server/directory/acl/AccessTable"
import { Holders } from "@coffer/server/directory/acl/Holders"
import { MarkedRules } from "@coffer/server/directory/acl/MarkedRules"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { AuditArchives } from "@coffer/server/operations/audit-archives/AuditArchives"
import { makeObjectStore } from "@coffer/server/operations/backups/ConfiguredStore"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import {
  account,
  asActor,
  email,
  envPath,
  grant,
  member,
  onDatabase,
  organization,
  orgPath,
  projectPath,
  readSecret,
  setSecret,
  transaction,
  uuid
} from "../support/Services.js"

// Rules and accounts that nobody used for 90 days. The clock is the test's.

const day = 24 * 60 * 60 * 1000
const start = Date.UTC(2026, 0, 1)
const dayOf = (days: number) => new Date(start + days * day).toISOString()

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-usage-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const services = Layer.mergeAll(
  AccessTable.Default,
  Holders.Default,
  MarkedRules.Default,
  ServiceAccounts.Default,
  AuditArchives.Default
)

/** Runs a test that begins with an organization, of which the log has an age in days. */
const withUsage = <A, E, R>(test: (ada: Actor) => Effect.Effect<A, E, R>, age = 200) =>
  Effect.gen(function* () {
    const directory = yield* folder
    yield* Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const ada = yield* organization()
      yield* setSecret(ada, "KEY", "x")
      yield* at(age)
      yield* test(ada)
    }).pipe(Effect.provide(services), onDatabase({ BACKUP_DIR: directory }))
  }).pipe(Effect.scoped)

const at = (days: number) =>
  Effect.zipRight(
    Effect.flatMap(AuditLog, ({ flush }) => flush),
    TestClock.setTime(start + days * day)
  )

const flush = Effect.flatMap(AuditLog, ({ flush }) => flush)

/** The marks of the rules, by their patterns. */
const marks = (actor: Actor) =>
  Effect.gen(function* () {
    yield* flush
    const place = yield* (yield* Access).org(orgPath(), "acl.list").pipe(asActor(actor))
    const rules = yield* (yield* MarkedRules).list(place)
    return Object.fromEntries(
      rules.map(({ env_pattern, permission, project_pattern, usage }) => [
        `${project_pattern}/${env_pattern} ${permission}`,
        usage ?? "used"
      ])
    )
  })

const usageOfHolder = (ada: Actor, id: string, request: Parameters<Holders["read"]>[1] = {}, path = envPath()) =>
  Effect.gen(function* () {
    yield* flush
    const place = yield* (yield* Access).env(path, "access.list").pipe(asActor(ada))
    const { data } = yield* (yield* Holders).read(place, request)
    return data.find((holder) => holder.id === id)?.usage ?? "used"
  })

const usageInTable = (ada: Actor, address: string) =>
  Effect.gen(function* () {
    yield* flush
    const place = yield* (yield* Access).org(orgPath(), "acl.explain").pipe(asActor(ada))
    const { data } = yield* (yield* AccessTable).read(place, { subject: email(address) })
    return Object.fromEntries(data.map(({ env, usage }) => [env, usage ?? "used"]))
  })

const sqlOf = <A, E, R>(run: (sql: SqlClient.SqlClient) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, run)

describe("a rule", () => {
  it.effect("is unused if its subject did nothing that it gives for 90 days", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read", { project: "webshop", env: "prod" })
        yield* grant(bob, "write", { project: "web*", env: "prod" })
        yield* grant(bob, "read", { project: "*", env: "{dev,staging}" })
        yield* grant(bob, "use", { project: "webshop", env: "*" })
        assert.deepStrictEqual(yield* marks(ada), {
          "webshop/prod read": "unused",
          "web*/prod write": "unused",
          "*/{dev,staging} read": "unused",
          "webshop/* use": "unused"
        })
        yield* readSecret(bob, "KEY")
        const used = {
          "webshop/prod read": "used",
          "web*/prod write": "used",
          "*/{dev,staging} read": "unused",
          "webshop/* use": "unused"
        }
        assert.deepStrictEqual(yield* marks(ada), used)
        yield* at(289)
        assert.deepStrictEqual(yield* marks(ada), used)
        yield* at(291)
        assert.strictEqual((yield* marks(ada))["webshop/prod read"], "unused")
        // A write shows no use of a rule that gives reading alone.
        yield* setSecret(bob, "KEY", "y")
        const written = yield* marks(ada)
        assert.deepStrictEqual([written["webshop/prod read"], written["web*/prod write"]], ["unused", "used"])
      })
    )
  )

  it.effect("of a group is used by each of its members, and by nobody who left", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const bob = yield* member("bob@example.com", "developer")
        const org = yield* sqlOf((sql) => sql<{ id: string }>`SELECT id FROM organizations`)
        const [group, orgId] = [uuid(), org[0]?.id ?? ""]
        const stamps = { created_at: dayOf(0), updated_at: dayOf(0) }
        yield* sqlOf(
          (sql) =>
            sql`INSERT INTO groups ${sql.insert({ id: group, org_id: orgId, name: "crew", created_by: "ada@example.com", ...stamps })}`
        )
        yield* sqlOf(
          (sql) =>
            sql`INSERT INTO group_members ${sql.insert({ user_id: bob.id, org_id: orgId, group_id: group, added_by: "ada@example.com", created_at: dayOf(0) })}`
        )
        yield* sqlOf(
          (sql) =>
            sql`INSERT INTO acl_rules ${sql.insert({
              ...{
                id: uuid(),
                org_id: orgId,
                subject_type: "group",
                subject_id: group,
                project_pattern: "*",
                env_pattern: "*"
              },
              ...{ permission: "read", created_by: "ada@example.com", ...stamps }
            })}`
        )
        assert.deepStrictEqual(yield* marks(ada), { "*/* read": "unused" })
        yield* readSecret(bob, "KEY")
        assert.deepStrictEqual(yield* marks(ada), { "*/* read": "used" })
        assert.deepStrictEqual(yield* usageInTable(ada, "bob@example.com"), {
          dev: "unused",
          prod: "used",
          staging: "unused"
        })
        yield* sqlOf((sql) => sql`DELETE FROM group_members`)
        assert.deepStrictEqual(yield* marks(ada), { "*/* read": "unused" })
      })
    )
  )

  it.effect("granted or changed lately, or one to deny, has no mark", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read", { project: "one" })
        yield* grant(bob, "read", { project: "two" })
        yield* grant(bob, "read", { project: "three" })
        yield* sqlOf((sql) => sql`UPDATE acl_rules SET updated_at = ${dayOf(150)} WHERE project_pattern = 'one'`)
        yield* sqlOf((sql) => sql`UPDATE acl_rules SET denies = 1 WHERE project_pattern = 'two'`)
        assert.deepStrictEqual(yield* marks(ada), {
          "one/* read": "used",
          "two/* read": "used",
          "three/* read": "unused"
        })
      })
    )
  )
})

describe("the mark is unknown", () => {
  it.effect("where older entries left the log", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read")
        yield* setSecret(ada, "KEY", "y")
        yield* at(210)
        assert.deepStrictEqual(yield* marks(ada), { "*/* read": "unused" })
        const { backups } = yield* ServerConfig
        if (backups === null) return assert.fail("no store")
        yield* (yield* AuditArchives).archive(
          yield* makeObjectStore(backups),
          dayOf(190),
          fencedByNothing(yield* Database)
        )
        assert.deepStrictEqual(yield* marks(ada), { "*/* read": "unknown" })
        assert.strictEqual(yield* usageOfHolder(ada, bob.id), "unknown")
        assert.deepStrictEqual(yield* usageInTable(ada, "bob@example.com"), {
          dev: "unknown",
          prod: "unknown",
          staging: "unknown"
        })
        yield* readSecret(bob, "KEY")
        assert.deepStrictEqual(yield* marks(ada), { "*/* read": "used" })
      })
    )
  )

  it.effect("where the log began later, as after an import", () =>
    withUsage(
      (ada) =>
        Effect.gen(function* () {
          const bob = yield* member("bob@example.com", "developer")
          yield* grant(bob, "read")
          assert.deepStrictEqual(yield* marks(ada), { "*/* read": "unknown" })
          yield* readSecret(bob, "KEY")
          assert.deepStrictEqual(yield* marks(ada), { "*/* read": "used" })
        }),
      60
    )
  )

  it.effect("where a project had another name in these days", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read", { project: "{webshop,shop}" })
        yield* grant(bob, "read", { project: "webshop" })
        yield* readSecret(bob, "KEY")
        yield* at(210)
        const place = yield* (yield* Access).project(projectPath(), "project.update").pipe(asActor(ada))
        yield* transaction((yield* Projects).change(place, { name: ProjectName.make("shop") }))
        assert.deepStrictEqual(yield* marks(ada), { "{webshop,shop}/* read": "unknown", "webshop/* read": "unused" })
        assert.strictEqual(yield* usageOfHolder(ada, bob.id, {}, envPath("prod", "shop")), "unknown")
        assert.deepInclude(yield* usageInTable(ada, "bob@example.com"), { prod: "unknown" })
      })
    )
  )

  it.effect("where an account that still calls may poll what has not changed", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const ci = yield* account("ci")
        yield* grant(ci, "read", { env: "prod" })
        yield* grant(ci, "read", { env: "dev" })
        yield* readSecret(ci, "KEY")
        yield* at(300)
        assert.deepStrictEqual(yield* marks(ada), { "*/prod read": "unused", "*/dev read": "unused" })
        yield* sqlOf((sql) => sql`UPDATE service_accounts SET last_used_at = ${dayOf(299)}`)
        assert.deepStrictEqual(yield* marks(ada), { "*/prod read": "unknown", "*/dev read": "unused" })
        assert.strictEqual(yield* usageOfHolder(ada, ci.id), "unknown")
        assert.strictEqual(yield* usageOfHolder(ada, ci.id, {}, envPath("dev")), "unused")
      })
    )
  )
})

describe("who can, and the table of a person,", () => {
  it.effect("mark the environments in which a right was not used", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "write")
        yield* readSecret(bob, "KEY")
        assert.strictEqual(yield* usageOfHolder(ada, bob.id), "used")
        assert.strictEqual(yield* usageOfHolder(ada, bob.id, { permission: "write" }), "unused")
        assert.strictEqual(yield* usageOfHolder(ada, bob.id, {}, envPath("dev")), "unused")
        assert.deepStrictEqual(yield* usageInTable(ada, "bob@example.com"), {
          dev: "unused",
          prod: "used",
          staging: "unused"
        })
        yield* at(400)
        assert.strictEqual(yield* usageOfHolder(ada, bob.id), "unused")
      })
    )
  )
})

describe("a service account", () => {
  it.effect("is unused without a call for 90 days, from its creation on", () =>
    withUsage((ada) =>
      Effect.gen(function* () {
        yield* account("old")
        yield* account("busy")
        yield* account("new")
        yield* sqlOf((sql) => sql`UPDATE service_accounts SET last_used_at = ${dayOf(111)} WHERE name = 'busy'`)
        yield* sqlOf((sql) => sql`UPDATE service_accounts SET created_at = ${dayOf(111)} WHERE name = 'new'`)
        const found = Effect.gen(function* () {
          const place = yield* (yield* Access).org(orgPath(), "service_account.list").pipe(asActor(ada))
          const accounts = yield* (yield* ServiceAccounts).list(place)
          return Object.fromEntries(accounts.map(({ name, usage }) => [name, usage ?? "used"]))
        })
        assert.deepStrictEqual(yield* found, { busy: "used", new: "used", old: "unused" })
        yield* at(202)
        assert.deepStrictEqual(yield* found, { busy: "unused", new: "unused", old: "unused" })
      })
    )
  )
})
