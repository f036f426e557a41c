import type { Actor } from "@coffer/domain/access/Actor"
import { OrgName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, TestClock } from "effect"
import {
  account,
  asActor,
  entries,
  listSecrets,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome,
  person,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const create = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const founder = yield* (yield* Access).founder().pipe(asActor(actor))
    return yield* transaction((yield* Organizations).create(founder, OrgName.make(name)))
  })
const list = (actor: Actor) => Effect.flatMap(Organizations, (organizations) => organizations.list(actor))
const rename = (actor: Actor, from: string, to: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(from), "org.update").pipe(asActor(actor))
    return yield* transaction((yield* Organizations).update(place, { name: OrgName.make(to) }))
  })
const remove = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(name), "org.delete").pipe(asActor(actor))
    yield* transaction((yield* Organizations).remove(place))
  })
const get = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(name), "org.read").pipe(asActor(actor))
    return yield* (yield* Organizations).get(place)
  })

describe("an organization", () => {
  it.effect("is its maker's, who is its owner", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
      const ada = yield* person("ada@example.com")
      const made = yield* create(ada, "acme")
      assert.deepInclude(made, { name: OrgName.make("acme"), role: "owner", created_at: "2026-01-31T12:00:00.000Z" })
      assert.deepStrictEqual(made, yield* get(ada, "acme"))
      assert.deepStrictEqual([made], [...(yield* list(ada))])
    }).pipe(onDatabase())
  )

  it.effect("has a name of its own among those that are not removed", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const bob = yield* person("bob@example.com")
      assert.strictEqual(yield* outcome(create(bob, "acme")), "Conflict")
      yield* create(bob, "other")
      assert.strictEqual(yield* outcome(rename(bob, "other", "acme")), "Conflict")
      yield* remove(ada, "acme")
      // The name of a removed one is kept for its owners.
      assert.strictEqual(yield* outcome(create(bob, "acme")), "Conflict")
      assert.strictEqual(yield* outcome(rename(bob, "other", "acme")), "Conflict")
      yield* create(ada, "acme")
      assert.strictEqual(yield* outcome(create(ada, "other")), "Conflict")
    }).pipe(onDatabase())
  )

  it.effect("takes the name of a removed one at once, where the server keeps no removed organization", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const bob = yield* person("bob@example.com")
      yield* create(bob, "other")
      yield* remove(ada, "acme")
      yield* rename(bob, "other", "acme")
      assert.strictEqual(yield* outcome(create(ada, "acme")), "Conflict")
      yield* create(ada, "other")
    }).pipe(onDatabase({ SERVICE_TRASH_DAYS: "0" }))
  )

  it.effect("is made once, when many make one of its name at the same time", () =>
    Effect.gen(function* () {
      const people = yield* Effect.forEach(Array.range(1, 10), (index) => person(`p${index}@example.com`))
      const outcomes = yield* Effect.all(
        people.map((actor) => outcome(create(actor, "acme"))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...outcomes].sort(), [...Array.replicate("Conflict", 9), "success"])
      const winner = people[outcomes.indexOf("success")]!
      for (const actor of people) assert.strictEqual((yield* list(actor)).length, actor === winner ? 1 : 0)
    }).pipe(onDatabase())
  )

  it.effect("with the name of a removed one starts empty, and the removed one is gone with all its contents", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      yield* remove(ada, "acme")
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
      assert.deepStrictEqual(yield* list(ada), [])
      assert.strictEqual(yield* outcome(remove(ada, "acme")), "NotFound")
      yield* create(ada, "acme")
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
      yield* newProject(ada, "webshop")
      assert.deepStrictEqual(yield* listSecrets(ada), [])
    }).pipe(onDatabase())
  )

  it.effect("keeps what is in it when it is renamed", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      const before = yield* get(ada, "acme")
      yield* TestClock.adjust("1 second")
      const renamed = yield* rename(ada, "acme", "acme-2")
      assert.deepStrictEqual(renamed, {
        ...before,
        name: OrgName.make("acme-2"),
        updated_at: "1970-01-01T00:00:01.000Z"
      })
      assert.strictEqual(yield* outcome(get(ada, "acme")), "NotFound")
      assert.deepInclude((yield* entries("acme-2")).at(-1), {
        action: "org.update",
        metadata: { name: "acme-2", before: "acme" }
      })
    }).pipe(onDatabase())
  )

  it.effect("is renamed and removed by owners alone", () =>
    Effect.gen(function* () {
      yield* organization()
      for (const role of ["admin", "developer", "member"] as const) {
        const actor = yield* member(`${role}@example.com`, role)
        assert.strictEqual(yield* outcome(rename(actor, "acme", "mine")), "Forbidden")
        assert.strictEqual(yield* outcome(remove(actor, "acme")), "Forbidden")
        assert.deepInclude(yield* get(actor, "acme"), { role })
      }
      const second = yield* member("second@example.com", "owner")
      yield* rename(second, "acme", "ours")
    }).pipe(onDatabase())
  )

  it.effect("is listed to its members and its service accounts, to superadmins all", () =>
    Effect.gen(function* () {
      const ada = yield* organization("acme")
      yield* organization("other", "webshop", "bob@example.com")
      yield* organization("gone", "webshop", "bob@example.com")
      yield* remove(yield* person("bob@example.com"), "gone")
      const bot = yield* account("bot", { org: "other" })
      const root = yield* person("root@example.com", { superadmin: true })
      const wanted: ReadonlyArray<readonly [Actor, ReadonlyArray<string>]> = [
        [ada, ["acme owner"]],
        [bot, ["other null"]],
        [root, ["acme null", "other null"]],
        [yield* person("nobody@example.com"), []]
      ]
      for (const [actor, listed] of wanted) {
        assert.deepStrictEqual(
          (yield* list(actor)).map(({ name, role }) => `${name} ${role}`),
          [...listed]
        )
      }
    }).pipe(onDatabase())
  )

  it.effect("is not made by a service account", () =>
    Effect.gen(function* () {
      yield* organization()
      assert.strictEqual(yield* outcome(create(yield* account("bot"), "mine")), "Forbidden")
    }).pipe(onDatabase())
  )

  it.effect("is made by superadmins alone where the configuration says so", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome(create(yield* person("ada@example.com"), "acme")), "Forbidden")
      yield* create(yield* person("root@example.com", { superadmin: true }), "acme")
    }).pipe(onDatabase({ SERVICE_ORG_CREATION: "superadmin" }))
  )
})
