import type { Actor } from "@coffer/domain/access/Actor"
import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { Trash } from "@coffer/server/secrets/trash/Trash"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, TestClock } from "effect"
import {
  asActor,
  envPath,
  onDatabase,
  organization,
  orgPath,
  projectPath,
  setSecret,
  transaction
} from "../support/Services.js"

const day = 24 * 60 * 60 * 1000
const services = Layer.mergeAll(Maintenance.Default, Trash.Default)

const sweep = Effect.flatMap(Maintenance, ({ sweep }) => sweep)

const removeEnvironment = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).guarded(envPath(name), "env.delete").pipe(asActor(actor))
    return yield* transaction((yield* Environments).remove(place))
  })

const removeProject = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "project.delete").pipe(asActor(actor))
    return yield* transaction((yield* Projects).remove(place))
  })

const removeOrganization = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(), "org.delete").pipe(asActor(actor))
    return yield* transaction((yield* Organizations).remove(place))
  })

const listed = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.restore").pipe(asActor(actor))
    return (yield* (yield* Trash).listEnvironments(place, {})).map(({ name }) => name)
  })

/** The keys whose values are there, each as often as it has versions. */
const valued = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string; key: string }>`
    SELECT e.name AS name, s.key AS key FROM secret_versions v JOIN secrets s ON s.id = v.secret_id
    JOIN environments e ON e.id = s.env_id WHERE v.wrapped_key IS NOT NULL AND length(v.ciphertext) > 0
    ORDER BY e.name, s.key, v.version`
  return rows.map(({ key, name }) => `${name}/${key}`)
})

const inTrash = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{ name: string }>`SELECT name FROM trash ORDER BY name`).map(({ name }) => name)
})

const erasures = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ action: string; actor: string }>`
    SELECT action, actor_name AS actor FROM audit_entries WHERE action LIKE '%.erase' ORDER BY position`
  return rows.map(({ action, actor }) => `${action} by ${actor}`)
})

describe("an import that has ended unfinished", () => {
  it.effect("loses its values in the same round, without an entry, and nothing restores its organization", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one", { path: envPath("dev") })
      yield* setSecret(ada, "A", "two", { path: envPath("dev") })
      const sql = yield* SqlClient.SqlClient
      const hide = (ends: number) => sql`
        INSERT INTO imports (id, org_id, user_id, name, structure, revision, created_at, expires_at)
        SELECT 'i', id, ${ada.id}, name, '', 0, '', ${ends} FROM organizations`
      const end = yield* Clock.currentTimeMillis
      yield* hide(end + 1)
      yield* sql`UPDATE organizations SET removed_at = '1970'`
      yield* sweep
      assert.deepStrictEqual(yield* valued, ["dev/A", "dev/A"])
      yield* TestClock.adjust(1)
      yield* sweep
      assert.deepStrictEqual(yield* valued, [])
      assert.deepStrictEqual(yield* sql`SELECT id FROM imports UNION ALL SELECT place_id FROM trash`, [])
      assert.deepStrictEqual(yield* erasures, [])
    }).pipe(Effect.provide(services), onDatabase())
  )
})

describe("what was removed", () => {
  it.effect("is erased when its days are over, with an entry, and what is live stays", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one", { path: envPath("dev") })
      yield* setSecret(ada, "A", "two", { path: envPath("dev") })
      yield* setSecret(ada, "B", "live", { path: envPath("prod") })
      yield* removeEnvironment(ada, "dev")
      yield* TestClock.adjust(30 * day - 1)
      yield* sweep
      assert.deepStrictEqual(yield* listed(ada), ["dev"])
      assert.deepStrictEqual(yield* valued, ["dev/A", "dev/A", "prod/B"])
      assert.deepStrictEqual(yield* erasures, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* listed(ada), [])
      yield* sweep
      assert.deepStrictEqual(yield* valued, ["prod/B"])
      assert.deepStrictEqual(yield* inTrash, [])
      assert.deepStrictEqual(yield* erasures, ["env.erase by trash"])
      yield* sweep
      assert.deepStrictEqual(yield* erasures, ["env.erase by trash"])
    }).pipe(Effect.provide(services), onDatabase())
  )

  it.effect("is erased by the next maintenance, and never restorable, with SERVICE_TRASH_DAYS=0", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one", { path: envPath("dev") })
      yield* removeEnvironment(ada, "dev")
      assert.deepStrictEqual(yield* listed(ada), [])
      assert.deepStrictEqual(yield* valued, ["dev/A"])
      yield* sweep
      assert.deepStrictEqual(yield* valued, [])
    }).pipe(Effect.provide(services), onDatabase({ SERVICE_TRASH_DAYS: "0" }))
  )

  it.effect("is erased with what was removed in it before, page by page", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (let index = 0; index < 250; index++) yield* setSecret(ada, `K_${index}`, "x", { path: envPath("dev") })
      for (let index = 0; index < 250; index++) yield* setSecret(ada, "MANY", String(index), { path: envPath("prod") })
      yield* removeEnvironment(ada, "dev")
      yield* TestClock.adjust(day)
      yield* removeProject(ada)
      yield* TestClock.adjust(day)
      yield* removeOrganization(ada)
      assert.deepStrictEqual((yield* inTrash).length, 3)
      yield* TestClock.adjust(28 * day)
      yield* sweep
      assert.deepStrictEqual([...new Set(yield* valued)], ["prod/MANY"])
      yield* TestClock.adjust(2 * day)
      yield* sweep
      assert.deepStrictEqual(yield* valued, [])
      assert.deepStrictEqual(yield* inTrash, [])
      assert.includeMembers([...(yield* erasures)], ["env.erase by trash", "org.erase by trash"])
    }).pipe(Effect.provide(services), onDatabase())
  )

  it.effect("is not an environment that has ended: such a one is erased, and nothing brings it back", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const access = yield* Access
      const place = yield* access.project(projectPath(), "env.create").pipe(asActor(ada))
      const end = (yield* Clock.currentTimeMillis) + 2 * day
      for (const name of ["pr-1", "pr-2"]) {
        yield* transaction((yield* Environments).create(place, EnvName.make(name), { end }))
        yield* setSecret(ada, "A", "x", { path: envPath(name) })
      }
      yield* removeEnvironment(ada, "pr-1")
      assert.deepStrictEqual(yield* listed(ada), ["pr-1"])
      yield* TestClock.adjust(2 * day)
      // Removed before its end, it can be restored until then.
      assert.deepStrictEqual(yield* listed(ada), [])
      yield* sweep
      assert.deepStrictEqual(yield* listed(ada), [])
      assert.deepStrictEqual(yield* valued, [])
      assert.deepStrictEqual(yield* inTrash, [])
    }).pipe(Effect.provide(services), onDatabase())
  )

  it.effect("was removed by an earlier version: it stays as it is, hidden and with its values", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one", { path: envPath("dev") })
      yield* removeEnvironment(ada, "dev")
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM trash`
      yield* TestClock.adjust(400 * day)
      yield* sweep
      assert.deepStrictEqual(yield* valued, ["dev/A"])
    }).pipe(Effect.provide(services), onDatabase())
  )
})
