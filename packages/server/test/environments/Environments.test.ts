import type { Actor } from "@coffer/domain/access/Actor"
import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect } from "effect"
import {
  account,
  asActor,
  enter,
  entries,
  envPath,
  listSecrets,
  member,
  onDatabase,
  organization,
  outcome,
  projectPath,
  readBundle,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const create = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(actor))
    return yield* transaction((yield* Environments).create(place, EnvName.make(name)))
  })
const list = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.list").pipe(asActor(actor))
    return (yield* (yield* Environments).list(place)).map(({ name }): string => name)
  })
const remove = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "env.delete", envPath(name))
    yield* transaction((yield* Environments).remove(place))
  })

describe("an environment", () => {
  it.effect("is made and removed by admins and owners, and seen by every member and account", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* create(ada, "qa")
      const developer = yield* member("developer@example.com", "developer")
      for (const actor of [developer, yield* account("bot")]) {
        assert.strictEqual(yield* outcome(create(actor, "mine")), "Forbidden")
        assert.strictEqual(yield* outcome(remove(actor, "qa")), "Forbidden")
        assert.deepStrictEqual(yield* list(actor), ["dev", "qa", "staging", "prod"])
      }
      yield* remove(yield* member("admin@example.com", "admin"), "qa")
      assert.deepStrictEqual(yield* list(ada), ["dev", "staging", "prod"])
      assert.deepStrictEqual(
        (yield* entries())
          .filter(({ action }) => action.startsWith("env."))
          .map(({ action, actor, metadata }) => ({ action, actor, metadata })),
        [
          { action: "env.create", actor: "ada@example.com", metadata: { project: "webshop", env: "qa", name: "qa" } },
          { action: "env.delete", actor: "admin@example.com", metadata: { project: "webshop", env: "qa", name: "qa" } }
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("has a name of its own, and is made once by many at the same time", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      assert.strictEqual(yield* outcome(create(ada, "prod")), "Conflict")
      const outcomes = yield* Effect.all(
        Array.makeBy(6, () => outcome(create(ada, "qa"))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...outcomes].sort(), [...Array.replicate("Conflict", 5), "success"])
    }).pipe(onDatabase())
  )

  it.effect("of a removed one's name starts empty, with another ETag", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const { etag } = yield* readBundle(ada)
      yield* setSecret(ada, "A", "x")
      yield* remove(ada, "prod")
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
      assert.strictEqual(yield* outcome(remove(ada, "prod")), "NotFound")
      yield* create(ada, "prod")
      assert.deepStrictEqual(yield* listSecrets(ada), [])
      assert.notStrictEqual((yield* readBundle(ada)).etag, etag)
    }).pipe(onDatabase())
  )

  it.effect("is one of 100 at most in its project", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* Effect.forEach(Array.range(4, 100), (index) => create(ada, `env-${index}`))
      const error = yield* Effect.flip(create(ada, "one-more"))
      assert.deepStrictEqual([error._tag, error.message.includes("100 environments")], ["LimitExceeded", true])
      yield* remove(ada, "env-4")
      yield* create(ada, "one-more")
    }).pipe(onDatabase())
  )
})
