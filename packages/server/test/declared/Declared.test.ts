import type { Actor } from "@coffer/domain/access/Actor"
import { DeclaredKey, type RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Declared, type DeclareRequest } from "@coffer/server/secrets/declared/Declared"
import { KeyChecks } from "@coffer/server/secrets/declared/KeyChecks"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { History } from "@coffer/server/secrets/services/History"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  account,
  asActor,
  enter,
  entries,
  envPath,
  grant,
  key,
  member,
  onDatabase as onEmptyDatabase,
  organization,
  outcome,
  projectPath,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"

const services = Layer.mergeAll(
  Declared.Default,
  History.Default,
  KeyChecks.Default,
  Promotion.Default,
  Revisions.Default
)

const onDatabase =
  () =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    test.pipe(Effect.provide(services), onEmptyDatabase())

const named = (names: ReadonlyArray<string>): RequiredIn => names.map((name) => EnvName.make(name))

const declare = (actor: Actor, name: string, request: DeclareRequest = {}) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "declared.set").pipe(asActor(actor))
    return yield* transaction((yield* Declared).set(place, key(name), request))
  })
const undeclare = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "declared.delete").pipe(asActor(actor))
    return yield* transaction((yield* Declared).remove(place, key(name)))
  })
const list = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "declared.list").pipe(asActor(actor))
    return yield* (yield* Declared).list(place)
  })
const get = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "declared.list").pipe(asActor(actor))
    return yield* (yield* Declared).get(place, key(name))
  })
const check = (actor: Actor, env = "prod") =>
  Effect.flatMap(enter(actor, "secret.compare", envPath(env)), (place) =>
    Effect.flatMap(KeyChecks, (checks) => checks.check(place))
  )
const beStrict = (actor: Actor, strict: boolean) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "project.update").pipe(asActor(actor))
    return yield* transaction((yield* Projects).change(place, { strict }))
  })
const copy = (actor: Actor) =>
  Effect.gen(function* () {
    const to = yield* enter(actor, "secret.write", envPath("prod"))
    const from = yield* enter(actor, "secret.copy", envPath("dev"))
    return yield* transaction((yield* Promotion).copy(to, from, {}))
  })

const rollback = (actor: Actor, version: number) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "secret.write", envPath("prod"))
    return yield* transaction((yield* History).rollback(place, key("PORT"), { version }))
  })
const revert = (actor: Actor, to: number) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "secret.write", envPath("prod"))
    return (yield* transaction((yield* Revisions).revert(place, { to, dry_run: true }, undefined))).written
  })

const port = { pattern: "[0-9]+", required_in: named(["prod"]) }

describe("a declared key", () => {
  it.effect("is kept as it was declared last, and listed in byte order", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* declare(ada, "PORT", { ...port, description: "Where it\nlistens", example: "8080", owner: "ops" })
      yield* declare(ada, "API_KEY", { required_in: "*" })
      const made = yield* declare(ada, "PORT", { required_in: named(["staging", "prod", "prod"]), example: "80" })
      assert.deepStrictEqual(yield* get(ada, "PORT"), made)
      assert.deepStrictEqual(
        (yield* list(ada)).map(({ key: name, updated_at: _at, ...rest }): readonly [string, object] => [name, rest]),
        [
          ["API_KEY", { required_in: "*", updated_by: "ada@example.com" }],
          ["PORT", { required_in: ["prod", "staging"], example: "80", updated_by: "ada@example.com" }]
        ]
      )
      for (const one of yield* list(ada)) yield* Schema.decodeUnknown(DeclaredKey)(one)
      yield* undeclare(ada, "PORT")
      assert.strictEqual(yield* outcome(get(ada, "PORT")), "NotFound")
      assert.strictEqual(yield* outcome(undeclare(ada, "PORT")), "NotFound")
    }).pipe(onDatabase())
  )

  it.effect("has an example that matches its pattern, and a pattern that RE2 takes", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      assert.strictEqual(yield* outcome(declare(ada, "PORT", { ...port, example: "many" })), "ValidationError")
      assert.strictEqual(yield* outcome(declare(ada, "PORT", { pattern: "(?=a)" })), "ValidationError")
      assert.deepStrictEqual(yield* list(ada), [])
    }).pipe(onDatabase())
  )

  it.effect("is recorded with its pattern, and without its example", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* declare(ada, "PORT", { ...port, example: "8080", description: "hunter2" })
      yield* declare(ada, "PORT", {})
      yield* undeclare(ada, "PORT")
      const found = (yield* entries()).filter(({ action }) => action.startsWith("declared."))
      assert.deepStrictEqual(
        found.map(({ action, metadata }) => [action, metadata]),
        [
          ["declared.set", { project: "webshop", key: "PORT", required_in: ["prod"], pattern: "[0-9]+", before: null }],
          [
            "declared.set",
            {
              ...{ project: "webshop", key: "PORT", required_in: [] },
              before: { required_in: ["prod"], pattern: "[0-9]+" }
            }
          ],
          ["declared.delete", { project: "webshop", key: "PORT" }]
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("is for those to see who may list keys of an environment, and for admins who are people to change", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* declare(ada, "PORT", port)
      const grace = yield* member("grace@example.com", "developer")
      const bot = yield* account("bot", { reveal: false })
      yield* grant(bot, "use")
      for (const actor of [grace, bot]) {
        assert.deepStrictEqual(yield* list(actor), [])
        assert.strictEqual(yield* outcome(get(actor, "PORT")), "NotFound")
      }
      yield* grant(grace, "admin", { env: "dev" })
      yield* grant(bot, "admin", { env: "staging" })
      for (const actor of [grace, bot]) {
        assert.strictEqual((yield* list(actor)).length, 1)
        assert.strictEqual(yield* outcome(declare(actor, "PORT", port)), "Forbidden")
        assert.strictEqual(yield* outcome(undeclare(actor, "PORT")), "Forbidden")
      }
    }).pipe(onDatabase())
  )
})

describe("a check", () => {
  it.effect("names what is missing, what is not declared, and what breaks its pattern", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      assert.deepStrictEqual(yield* check(ada), { declared: 0, missing: [], extra: [], breaks: [] })
      yield* declare(ada, "PORT", port)
      yield* declare(ada, "API_KEY", { required_in: "*" })
      yield* declare(ada, "OPTIONAL", { pattern: "on|off" })
      yield* setSecret(ada, "PORT", "many")
      yield* setSecret(ada, "OPTIONAL", "on")
      yield* setSecret(ada, "OLD", "x")
      assert.deepStrictEqual(yield* check(ada), {
        declared: 3,
        missing: ["API_KEY"].map(key),
        extra: ["OLD"].map(key),
        breaks: ["PORT"].map(key)
      })
      assert.deepStrictEqual((yield* check(ada, "dev")).missing, ["API_KEY"].map(key))
      const [looked, ...others] = (yield* entries()).filter(({ action }) => action === "secret.check")
      assert.deepStrictEqual(looked?.metadata, {
        ...{ project: "webshop", env: "prod" },
        keys: [
          { key: "OPTIONAL", version: 1 },
          { key: "PORT", version: 1 }
        ]
      })
      assert.lengthOf(others, 0, "no value of dev was decrypted")
    }).pipe(onDatabase())
  )

  it.effect("tells nothing of values to an account that never gets them", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const blind = yield* account("blind", { reveal: false })
      yield* grant(blind, "write")
      yield* declare(ada, "PORT", port)
      yield* setSecret(ada, "PORT", "many")
      assert.deepStrictEqual(yield* check(blind), { declared: 1, missing: [], extra: [], breaks: null })
      assert.notInclude(
        (yield* entries()).map(({ action }) => action),
        "secret.check"
      )
      yield* setSecret(ada, "PORT", "several", { path: envPath("dev") })
      assert.notProperty((yield* copy(blind)).written, "warnings", "what it copies is not what it sends")
      assert.deepStrictEqual((yield* setSecret(blind, "PORT", "few")).warnings, [
        { key: key("PORT"), problem: "breaks_pattern" }
      ])
    }).pipe(onDatabase())
  )

  it.effect("goes by the names of environments, whether they are there or not", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* declare(ada, "PORT", { required_in: named(["later", "prod"]) })
      const inProject = (yield* Access).project(projectPath(), "env.create").pipe(asActor(ada))
      const place = yield* inProject
      yield* transaction((yield* Environments).create(place, EnvName.make("later")))
      assert.deepStrictEqual((yield* check(ada, "later")).missing, ["PORT"].map(key))
      const prod = yield* enter(ada, "env.delete", envPath("prod"))
      yield* transaction((yield* Environments).remove(prod))
      assert.deepStrictEqual((yield* get(ada, "PORT")).required_in, named(["later", "prod"]))
      const renaming = yield* (yield* Access).project(projectPath(), "project.update").pipe(asActor(ada))
      yield* transaction((yield* Projects).change(renaming, { name: ProjectName.make("shop") }))
      const moved = yield* (yield* Access).project(projectPath("shop"), "declared.list").pipe(asActor(ada))
      assert.lengthOf(yield* (yield* Declared).list(moved), 1)
    }).pipe(onDatabase())
  )
})

describe("a write of a declared key", () => {
  it.effect("is warned of, and made, if its value breaks the pattern", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* declare(ada, "PORT", port)
      const broken = [{ key: key("PORT"), problem: "breaks_pattern" }]
      const first = yield* setSecret(ada, "PORT", "hunter2")
      assert.deepStrictEqual([first.version, first.warnings], [1, broken])
      assert.notInclude(JSON.stringify(first), "hunter2")
      assert.notProperty(yield* setSecret(ada, "PORT", "8080"), "warnings")
      const bulk = yield* writeBundle(ada, { set: { PORT: "x", OTHER: "y" } })
      assert.deepStrictEqual(bulk.warnings, broken)
      assert.notProperty(yield* writeBundle(ada, { set: { PORT: "x" } }), "warnings", "it is unchanged")
      const removed = yield* writeBundle(ada, { delete: ["PORT", "OTHER"], dry_run: true })
      assert.deepStrictEqual(removed.warnings, [{ key: key("PORT"), problem: "required" }])
      yield* setSecret(ada, "PORT", "many", { path: envPath("dev") })
      assert.deepStrictEqual((yield* copy(ada)).written.warnings, broken)
    }).pipe(onDatabase())
  )

  it.effect("is refused in a strict project, which is named with the key and without the value", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* declare(ada, "PORT", port)
      yield* setSecret(ada, "PORT", "many", { path: envPath("dev") })
      assert.isTrue((yield* beStrict(ada, true)).strict)
      const refused = yield* Effect.flip(setSecret(ada, "PORT", "hunter2"))
      assert.strictEqual(refused._tag, "PatternBroken")
      assert.match(refused.message, /secret PORT.*project webshop is strict/)
      assert.notInclude(refused.message, "hunter2")
      const bulk = writeBundle(ada, { set: { A: "x", PORT: "hunter2" } })
      assert.strictEqual(yield* outcome(bulk), "PatternBroken")
      assert.strictEqual(yield* outcome(copy(ada)), "PatternBroken")
      assert.deepStrictEqual((yield* check(ada)).extra, [], "nothing was written")
      yield* setSecret(ada, "PORT", "8080")
      const removed = yield* writeBundle(ada, { delete: ["PORT"] })
      assert.deepStrictEqual(removed.warnings, [{ key: key("PORT"), problem: "required" }])
      assert.isFalse((yield* beStrict(ada, false)).strict)
      yield* setSecret(ada, "PORT", "hunter2")
    }).pipe(onDatabase())
  )

  it.effect("is warned of, and never refused, if it restores a value that breaks the pattern", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const blind = yield* account("blind", { reveal: false })
      yield* grant(blind, "write")
      yield* setSecret(ada, "PORT", "hunter2")
      yield* setSecret(ada, "PORT", "8080")
      yield* declare(ada, "PORT", port)
      yield* beStrict(ada, true)
      const broken = [{ key: key("PORT"), problem: "breaks_pattern" }]
      assert.deepStrictEqual((yield* revert(ada, 1)).warnings, broken)
      assert.deepStrictEqual((yield* revert(ada, 0)).warnings, [{ key: key("PORT"), problem: "required" }])
      const restored = yield* rollback(ada, 1)
      assert.deepStrictEqual([restored.version, restored.warnings], [3, broken])
      assert.notProperty(yield* rollback(ada, 2), "warnings")
      assert.notProperty(yield* rollback(blind, 1), "warnings", "it may not learn what the value looks like")
      yield* rollback(ada, 2)
      assert.notProperty(yield* revert(blind, 1), "warnings")
    }).pipe(onDatabase())
  )
})
