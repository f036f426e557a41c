import type { Actor } from "@coffer/domain/access/Actor"
import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { ProjectMatrix } from "@coffer/server/secrets/services/ProjectMatrix"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import {
  asActor,
  enter,
  entries,
  envPath,
  member,
  newProject,
  isOnPostgres,
  onDatabase,
  organization,
  outcome,
  projectPath,
  readBundle,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const order = (actor: Actor, ...names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "project.update").pipe(asActor(actor))
    const change = { order: names.map((name) => EnvName.make(name)) }
    return yield* transaction((yield* Projects).change(place, change))
  })
const list = (actor: Actor, project?: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(project), "env.list").pipe(asActor(actor))
    return (yield* (yield* Environments).list(place)).map(({ name, position }) => [String(name), position])
  })
const matrix = (actor: Actor, ifNoneMatch?: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.list").pipe(asActor(actor))
    return yield* Effect.scoped((yield* ProjectMatrix).read(place, undefined, ifNoneMatch))
  }).pipe(Effect.provide(ProjectMatrix.Default))
const create = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(actor))
    yield* transaction((yield* Environments).create(place, EnvName.make(name)))
  })
const remove = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "env.delete", envPath(name))
    yield* transaction((yield* Environments).remove(place))
  })

describe("the order of a project's environments", () => {
  it.effect("is its own for those that it names, and by stage for the others, in lists and in the matrix", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* newProject(ada, "other")
      const before = yield* matrix(ada)
      const changed = yield* order(ada, "prod", "dev")
      assert.deepStrictEqual(changed.order?.map(String), ["prod", "dev"])
      assert.deepStrictEqual(yield* list(ada), [
        ["prod", 0],
        ["dev", 1],
        ["staging", undefined]
      ])
      const after = yield* matrix(ada, before.etag)
      assert.deepStrictEqual(
        after.found?.environments.map(({ name, position }) => [String(name), position]),
        [
          ["dev", 1],
          ["prod", 0],
          ["staging", undefined]
        ],
        "the columns stay by name, as the contract says"
      )
      assert.deepInclude((yield* entries()).at(-1), {
        action: "project.update",
        metadata: { project: "webshop", name: "webshop", before: "webshop", order: ["prod", "dev"] }
      })

      // A new environment has no position, also if one of its name had.
      yield* remove(ada, "prod")
      yield* create(ada, "prod")
      yield* create(ada, "qa")
      assert.deepStrictEqual(
        (yield* list(ada)).map(([name]) => name),
        ["dev", "qa", "staging", "prod"]
      )
      assert.deepStrictEqual(yield* list(ada, "other"), [
        ["dev", undefined],
        ["staging", undefined],
        ["prod", undefined]
      ])
      assert.notProperty(yield* order(ada), "order")
      assert.deepStrictEqual(
        (yield* list(ada)).map(([, position]) => position),
        [undefined, undefined, undefined, undefined]
      )
    }).pipe(onDatabase())
  )

  it.effect("names environments that exist, each once, and is given by admins", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* order(ada, "prod")
      yield* create(ada, "old")
      yield* remove(ada, "old")
      for (const [names, message] of [
        [["dev", "old", "nowhere"], "project webshop has no environment old, nowhere"],
        [["dev", "prod", "dev"], "names dev twice"]
      ] as const) {
        const failure = yield* Effect.flip(order(ada, ...names))
        assert.deepStrictEqual([failure._tag, failure.message], ["ValidationError", `the body: order: ${message}`])
      }
      const developer = yield* member("developer@example.com", "developer")
      assert.strictEqual(yield* outcome(order(developer, "dev")), "Forbidden")
      assert.deepStrictEqual((yield* list(developer))[0], ["prod", 0])
    }).pipe(onDatabase())
  )

  it.effect.skipIf(isOnPostgres())("costs no statement where environments and secrets are read", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      const reads = { secret: readSecret(ada, "A"), bundle: readBundle(ada), matrix: matrix(ada), list: list(ada) }
      const counted = Effect.all(
        {
          secret: statementsOf(reads.secret),
          bundle: statementsOf(reads.bundle),
          matrix: statementsOf(reads.matrix),
          list: statementsOf(reads.list)
        },
        { concurrency: 1 }
      )
      const selects = Effect.map(counted, (found) =>
        Object.entries(found).map(([name, { statements }]) => [
          name,
          statements.filter(({ text }) => /FROM (?:secrets|environments|projects|secret_versions)\b/.test(text)).length
        ])
      )
      const before = yield* selects
      yield* order(ada, "prod", "dev", "staging")
      assert.deepStrictEqual(yield* selects, before)
      assert.deepStrictEqual(Object.fromEntries(before), { secret: 1, bundle: 1, matrix: 4, list: 1 })
    }).pipe(onDatabase())
  )
})
