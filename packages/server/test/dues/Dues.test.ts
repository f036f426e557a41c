import { EnvName } from "@coffer/domain/base/Names"
import type { Actor } from "@coffer/domain/access/Actor"
import type { DuePage } from "@coffer/domain/secrets/Due"
import { Access } from "@coffer/server/access/Access"
import { Dues } from "@coffer/server/secrets/dues/Dues"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { History } from "@coffer/server/secrets/services/History"
import { ProjectMatrix } from "@coffer/server/secrets/services/ProjectMatrix"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import {
  account,
  asActor,
  entries,
  enter,
  envPath,
  grant,
  key,
  listSecrets,
  member,
  newProject,
  onDatabase,
  organization,
  outcome,
  projectPath,
  readBundle,
  removeSecret,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"
import { at, day, dueIn, dueWithin, setDue, start } from "./World.js"

const withDues = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.zipRight(TestClock.setTime(start), test).pipe(
    Effect.provide(Layer.mergeAll(Dues.Default, History.Default, ProjectMatrix.Default)),
    onDatabase()
  )

const dueAt = (actor: Actor, name: string) =>
  Effect.map(listSecrets(actor), (all) => all.find((secret) => secret.key === name)?.due_at)

const matrix = (actor: Actor, ifNoneMatch?: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.list").pipe(asActor(actor))
    return yield* Effect.scoped((yield* ProjectMatrix).read(place, [EnvName.make("prod")], ifNoneMatch))
  })

describe("the due date of a secret", () => {
  it.effect("is the earlier of its expiry and of the age of its version, and shows in lists", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      assert.notProperty((yield* listSecrets(ada))[0], "due_at")
      const set = yield* setDue(ada, "A", { rotate_every_days: 90, owner: "Ops@Example.com" })
      assert.deepStrictEqual(
        { ...set },
        {
          key: key("A"),
          version: 1,
          updated_at: at(0),
          rotate_every_days: 90,
          owner: set.owner ?? assert.fail("no owner"),
          due_at: at(90)
        }
      )
      assert.strictEqual(set.owner as string, "ops@example.com")
      assert.deepStrictEqual(yield* listSecrets(ada), [set])
      assert.strictEqual((yield* setDue(ada, "A", { expires_at: "2026-02-10" })).due_at, "2026-02-10T00:00:00.000Z")
      assert.strictEqual((yield* setDue(ada, "A", { expires_at: "2027-02-10T08:00Z" })).due_at, at(90))
      const less = yield* setDue(ada, "A", { rotate_every_days: null, owner: null })
      assert.deepStrictEqual([less.due_at, less.expires_at], ["2027-02-10T08:00:00.000Z", "2027-02-10T08:00:00.000Z"])
      assert.deepStrictEqual(Object.keys(yield* setDue(ada, "A", { expires_at: null })).sort(), [
        "key",
        "updated_at",
        "version"
      ])
    }).pipe(withDues)
  )

  it.effect("moves with each new version, however it is written", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const name of ["A", "B"]) {
        yield* setSecret(ada, name, "x")
        yield* setDue(ada, name, { rotate_every_days: 30 })
      }
      yield* TestClock.adjust("10 days")
      yield* setSecret(ada, "A", "y")
      assert.deepStrictEqual([yield* dueAt(ada, "A"), yield* dueAt(ada, "B")], [at(40), at(30)])
      yield* TestClock.adjust("10 days")
      yield* writeBundle(ada, { set: { A: "y", B: "z", C: "new" } })
      assert.deepStrictEqual([yield* dueAt(ada, "A"), yield* dueAt(ada, "B")], [at(40), at(50)], "A is unchanged")
      yield* TestClock.adjust("10 days")
      const history = yield* History
      const place = yield* enter(ada, "secret.write")
      yield* transaction(history.rollback(place, key("A"), { version: 1 }))
      assert.strictEqual(yield* dueAt(ada, "A"), at(60))
    }).pipe(withDues)
  )

  it.effect("comes back with an undeleted secret, and not with a key set anew", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      yield* setDue(ada, "A", { rotate_every_days: 7, owner: "ada@example.com" })
      yield* removeSecret(ada, "A")
      assert.deepStrictEqual(yield* dueWithin(ada, "366d"), [])
      assert.deepStrictEqual((yield* dueIn(ada)).data, [])
      assert.strictEqual(yield* outcome(setDue(ada, "A", { owner: null })), "NotFound")
      yield* TestClock.adjust("1 day")
      const history = yield* History
      const place = yield* enter(ada, "secret.write")
      yield* transaction(history.undelete(place, key("A")))
      assert.strictEqual(yield* dueAt(ada, "A"), at(7), "by the time of its version")
      yield* removeSecret(ada, "A")
      yield* setSecret(ada, "A", "another")
      assert.strictEqual(yield* dueAt(ada, "A"), undefined)
    }).pipe(withDues)
  )

  it.effect("is in the audit log when it changes something, and changes no version, revision or ETag of values", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      const before = yield* readBundle(ada)
      const shown = yield* matrix(ada)
      yield* setDue(ada, "A", { expires_at: "2026-03-01", owner: "ada@example.com" })
      yield* setDue(ada, "A", { owner: "ada@example.com" })
      const updates = (yield* entries()).filter(({ action }) => action === "secret.update")
      assert.deepStrictEqual(
        updates.map(({ metadata }) => metadata),
        [
          {
            project: "webshop",
            env: "prod",
            key: "A",
            version: 1,
            expires_at: "2026-03-01T00:00:00.000Z",
            owner: "ada@example.com"
          }
        ]
      )
      const after = yield* readBundle(ada)
      assert.strictEqual(after.etag, before.etag)
      const again = yield* matrix(ada, shown.etag)
      assert.strictEqual(again.found?.data[0]?.cells[0]?.due_at, "2026-03-01T00:00:00.000Z", "no 304 for what changed")
      assert.strictEqual((yield* matrix(ada, again.etag)).found, undefined)
      assert.strictEqual(again.found?.environments[0]?.etag, shown.found?.environments[0]?.etag)
    }).pipe(withDues)
  )
})

describe("the list of what is due", () => {
  it.effect("of an environment has what is overdue or due within a time, by key", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { LATE: "1", SOON: "2", FAR: "3", NEVER: "4" } })
      yield* setDue(ada, "SOON", { expires_at: at(5) })
      yield* setDue(ada, "LATE", { expires_at: at(-5) })
      yield* setDue(ada, "FAR", { expires_at: at(50) })
      yield* setDue(ada, "NEVER", { owner: "ada@example.com" })
      const names = (within: string) => Effect.map(dueWithin(ada, within), (all) => all.map(({ key }) => String(key)))
      assert.deepStrictEqual(yield* names("14d"), ["LATE", "SOON"])
      assert.deepStrictEqual(yield* names("1h"), ["LATE"])
      assert.deepStrictEqual(yield* names("120h"), ["LATE", "SOON"])
      assert.deepStrictEqual(yield* names("366d"), ["FAR", "LATE", "SOON"])
    }).pipe(withDues)
  )

  it.effect("of an organization shows only places whose keys the caller may list, page by page", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* newProject(ada, "api")
      const places = [envPath("dev"), envPath("prod"), envPath("prod", "api")]
      for (const [index, path] of places.entries()) {
        for (const days of [1, 2, 3]) {
          const name = `K${days}`
          yield* setSecret(ada, name, "x", { path })
          yield* setDue(ada, name, { expires_at: new Date(start + days * day + index).toISOString() }, path)
        }
      }
      const seen = (actor: Actor, limit: number) =>
        Effect.gen(function* () {
          const all: Array<string> = []
          for (let after: string | undefined = undefined; ;) {
            const { data, pagination }: DuePage = yield* dueIn(actor, { limit, ...(after !== undefined && { after }) })
            assert.isAtMost(data.length, limit)
            all.push(...data.map(({ env, key, project }) => `${project}/${env} ${key}`))
            if (pagination.next_cursor === null) return all
            after = pagination.next_cursor
          }
        })
      const every = ["K1", "K2", "K3"].flatMap((name) =>
        ["webshop/dev", "webshop/prod", "api/prod"].map((place) => `${place} ${name}`)
      )
      assert.deepStrictEqual(yield* seen(ada, 100), every, "the earliest first")
      assert.deepStrictEqual(yield* seen(ada, 2), every)
      const grace = yield* member("grace@example.com", "member")
      assert.deepStrictEqual(yield* seen(grace, 2), [])
      yield* grant(grace, "read", { env: "dev" })
      assert.deepStrictEqual(yield* seen(grace, 2), ["webshop/dev K1", "webshop/dev K2", "webshop/dev K3"])
      const bot = yield* account("bot", { project: "api" })
      yield* grant(bot, "read", { project: "*", env: "*" })
      assert.deepStrictEqual(yield* seen(bot, 2), ["api/prod K1", "api/prod K2", "api/prod K3"])

      const environments = yield* Environments
      const gone = yield* Effect.flatMap(Access, (access) => access.right(envPath("dev"), "env.delete")).pipe(
        asActor(ada)
      )
      yield* transaction(environments.remove(gone))
      assert.notInclude((yield* seen(ada, 2)).join(), "dev")
    }).pipe(withDues)
  )
})
