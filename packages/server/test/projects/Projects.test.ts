import type { Actor } from "@coffer/domain/access/Actor"
import { ProjectName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect } from "effect"
import {
  account,
  asActor,
  entries,
  envPath,
  isOnPostgres,
  listSecrets,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome,
  projectPath,
  raw,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const list = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(), "project.list").pipe(asActor(actor))
    return (yield* (yield* Projects).list(place)).map(({ name }): string => name)
  })
const environments = (actor: Actor, project: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(project), "env.list").pipe(asActor(actor))
    return (yield* (yield* Environments).list(place)).map(({ name }): string => name)
  })
const rename = (actor: Actor, from: string, to: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(from), "project.update").pipe(asActor(actor))
    return yield* transaction((yield* Projects).change(place, { name: ProjectName.make(to) }))
  })
const remove = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(name), "project.delete").pipe(asActor(actor))
    yield* transaction((yield* Projects).remove(place))
  })
const get = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(name), "project.read").pipe(asActor(actor))
    return yield* (yield* Projects).get(place)
  })

describe("a project", () => {
  it.effect("comes with the environments dev, staging and prod", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const made = yield* newProject(ada, "api")
      assert.deepStrictEqual(yield* get(ada, "api"), made)
      assert.deepStrictEqual(yield* environments(ada, "api"), ["dev", "staging", "prod"])
      assert.deepStrictEqual(yield* list(ada), ["api", "webshop"])
    }).pipe(onDatabase())
  )

  it.effect("has a name of its own in its organization, among those that are not removed", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* organization("other")
      assert.strictEqual(yield* outcome(newProject(ada, "webshop")), "Conflict")
      yield* newProject(ada, "api")
      assert.strictEqual(yield* outcome(rename(ada, "api", "webshop")), "Conflict")
      yield* newProject(ada, "api", "other")
      yield* remove(ada, "webshop")
      yield* rename(ada, "api", "webshop")
    }).pipe(onDatabase())
  )

  it.effect("is made once, when many make one of its name at the same time", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const outcomes = yield* Effect.all(
        Array.makeBy(8, () => outcome(newProject(ada, "api"))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...outcomes].sort(), [...Array.replicate("Conflict", 7), "success"])
    }).pipe(onDatabase())
  )

  it.effect("of a removed one's name starts empty, and what was in the removed one is unreachable", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      yield* remove(ada, "webshop")
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
      assert.strictEqual(yield* outcome(remove(ada, "webshop")), "NotFound")
      yield* newProject(ada, "webshop")
      assert.deepStrictEqual(yield* listSecrets(ada), [])
      assert.strictEqual((yield* setSecret(ada, "A", "y")).version, 1)
    }).pipe(onDatabase())
  )

  it.effect("keeps its secrets when it is renamed", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      yield* rename(ada, "webshop", "shop")
      assert.strictEqual((yield* readSecret(ada, "A", { path: envPath("prod", "shop") })).value, "x")
      assert.deepInclude((yield* entries()).at(-2), {
        action: "project.update",
        metadata: { project: "webshop", name: "shop", before: "webshop" }
      })
    }).pipe(onDatabase())
  )

  it.effect.skipIf(isOnPostgres())("is one of 2,000 at most: one more is refused and changes nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const db = yield* raw
      const insert = db.prepare(
        `INSERT INTO projects (id, org_id, name, created_at, updated_at) SELECT ?, id, ?, created_at, created_at FROM organizations`
      )
      db.transaction(() => {
        for (let index = 1; index < 2_000; index++) insert.run(`p${index}`, `project-${index}`)
      })()
      const before = (yield* entries()).length
      const error = yield* Effect.flip(newProject(ada, "one-more"))
      assert.deepStrictEqual([error._tag, error.message.includes("2000 projects")], ["LimitExceeded", true])
      assert.strictEqual((yield* entries()).length, before)
      yield* remove(ada, "webshop")
      yield* newProject(ada, "one-more")
    }).pipe(onDatabase())
  )

  it.effect("is made, renamed and removed by admins and owners, and seen by every member", () =>
    Effect.gen(function* () {
      yield* organization()
      for (const role of ["developer", "member"] as const) {
        const actor = yield* member(`${role}@example.com`, role)
        assert.strictEqual(yield* outcome(newProject(actor, "mine")), "Forbidden")
        assert.strictEqual(yield* outcome(rename(actor, "webshop", "mine")), "Forbidden")
        assert.strictEqual(yield* outcome(remove(actor, "webshop")), "Forbidden")
        assert.deepStrictEqual(yield* list(actor), ["webshop"])
      }
      const admin = yield* member("admin@example.com", "admin")
      yield* newProject(admin, "api")
      yield* rename(admin, "api", "api-2")
      yield* remove(admin, "api-2")
    }).pipe(onDatabase())
  )

  it.effect("is the only one that an account scoped to it sees", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* newProject(ada, "api")
      const scoped = yield* account("scoped", { project: "api" })
      assert.deepStrictEqual(yield* list(scoped), ["api"])
      assert.deepStrictEqual(yield* list(yield* account("free")), ["api", "webshop"])
      assert.strictEqual(yield* outcome(get(scoped, "webshop")), "NotFound")
      assert.strictEqual(yield* outcome(environments(scoped, "webshop")), "NotFound")
    }).pipe(onDatabase())
  )
})
