import { Access } from "@coffer/server/access/Access"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { Outbound } from "@coffer/server/base/outbound/Outbound"
import { unfenced } from "@coffer/server/database/jobs/Lease"
import { backoffMillis, makeAutomaticPushes } from "@coffer/server/secrets/delivery/AutomaticPushes"
import { makeHourlyChecks } from "@coffer/server/secrets/delivery/HourlyChecks"
import { targetsRepo } from "@coffer/server/secrets/delivery/Repo"
import { stopPushes } from "@coffer/server/secrets/delivery/StoppedPushes"
import { type ChangedTarget, Targets } from "@coffer/server/secrets/delivery/Targets"
import { TargetValues } from "@coffer/server/secrets/delivery/TargetValues"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, TestClock } from "effect"
import {
  asUser,
  entries,
  envPath,
  failing,
  member,
  raw,
  removeSecret,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"
import { token } from "./KvServer.js"
import { bao, canary, path, push, withPlatform, world } from "./World.js"

const asAutomatic = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  withPlatform(Effect.provide(test, Layer.mergeAll(unfenced, TargetValues.Default, Outbound.Default)))

const minute = 60_000
const hour = 60 * minute

/** One look of the job: pushes to all targets that are due. Returns how many were. */
const look = Effect.gen(function* () {
  const { due } = yield* targetsRepo
  const automatic = yield* makeAutomaticPushes
  const rows = yield* due({ limit: 100 })
  yield* Effect.forEach(rows, ({ id }) => automatic(id), { discard: true })
  return rows.length
})

/** Keeps the mails of what runs under it. */
const keepingMails = (sent: Array<string>) =>
  Effect.provideService(
    Mailer,
    Mailer.make({
      sendLoginCode: () => Effect.void,
      sendInvitation: () => Effect.void,
      sendNotice: ({ text }) => Effect.sync(() => void sent.push(text))
    })
  )

const change = (request: ChangedTarget, as = "ada@example.com") =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "target.update")).pipe(asUser(as))
    return yield* transaction((yield* Targets).update(place, bao, request))
  })

const status = Effect.gen(function* () {
  const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "target.list")).pipe(
    asUser("ada@example.com")
  )
  return yield* (yield* Targets).get(place, bao)
})

const failures = Effect.map(entries(), (all) => all.filter(({ action }) => action === "push.failed"))

describe("an automatic target", () => {
  it.effect("gets each change once, and nothing while nothing changes", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ automatic: "push", remove: "own" })
      assert.strictEqual(yield* look, 1)
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary })
      const asked = kv.arrived.length
      assert.strictEqual(yield* look, 0)
      assert.lengthOf(kv.arrived, asked)
      yield* setSecret(ada, "STRIPE_KEY", "another")
      yield* setSecret(ada, "SECOND", "two")
      assert.strictEqual(yield* look, 1)
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "another", SECOND: "two" })
      yield* removeSecret(ada, "SECOND")
      yield* look
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "another" })
      const pushes = (yield* entries()).filter(({ action }) => action === "secret.push")
      assert.lengthOf(pushes, 3)
      for (const { actor, actor_type, metadata } of pushes) {
        assert.deepStrictEqual([actor_type, actor], ["system", "target bao"])
        assert.deepInclude(metadata, { as: "ada@example.com", project: "webshop", env: "prod" })
      }
    }).pipe(asAutomatic)
  )

  it.effect("gets a change of another environment that its values refer to", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ automatic: "push" })
      const shared = envPath("staging")
      yield* setSecret(ada, "HOST", "one", { path: shared })
      yield* writeBundle(ada, { references: { URL: "https://${staging:HOST}" } })
      yield* look
      assert.strictEqual(kv.data(path)["URL"], "https://one")
      yield* setSecret(ada, "HOST", "two", { path: shared })
      assert.strictEqual(yield* look, 1)
      assert.strictEqual(kv.data(path)["URL"], "https://two")
    }).pipe(asAutomatic)
  )

  it.effect("is left alone after what a person pushed, and while it is off", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      yield* setSecret(ada, "STRIPE_KEY", "another")
      assert.strictEqual(yield* look, 0)
      yield* push(ada)
      yield* change({ automatic: "push" })
      assert.strictEqual(yield* look, 0)
      yield* setSecret(ada, "STRIPE_KEY", "third")
      assert.strictEqual(yield* look, 1)
      assert.strictEqual(kv.data(path)["STRIPE_KEY"], "third")
    }).pipe(asAutomatic)
  )

  it.effect("has keys in its status that cannot be pushed", () =>
    Effect.gen(function* () {
      const { ada } = yield* world({ automatic: "push" })
      yield* setSecret(ada, "HEADER", `Bearer ${token}`)
      yield* look
      assert.deepInclude(yield* status, {
        failures: 0,
        problem: "1 of the keys cannot be pushed: the plan of a push says why"
      })
    }).pipe(asAutomatic)
  )

  it.effect("never gets an older revision after a newer one", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ automatic: "push" })
      const arrived = yield* Deferred.make<void>()
      let go: (instead: undefined) => void = () => undefined
      kv.before = ({ method }) => {
        if (method === "GET") return Promise.resolve(undefined)
        Deferred.unsafeDone(arrived, Effect.void)
        return new Promise((resolve) => {
          go = resolve
        })
      }
      const slow = yield* Effect.fork(look)
      yield* Deferred.await(arrived)
      kv.before = () => Promise.resolve(undefined)
      yield* setSecret(ada, "STRIPE_KEY", "newer")
      // While the first one goes on, nothing is sent.
      yield* look
      assert.lengthOf(kv.writes(), 1)
      // It is silent for so long that the next one takes over.
      yield* TestClock.adjust(2 * minute)
      yield* look
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "newer" })
      go(undefined)
      yield* Fiber.await(slow)
      yield* look
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "newer" })
    }).pipe(asAutomatic)
  )
})

describe("the rights of a push by itself", () => {
  const grace = "grace@example.com"

  it.effect("are those that its person has now: without them it stops, until somebody resumes it", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ automatic: "push" })
      yield* member(grace, "admin")
      yield* change({ automatic: "push" }, grace)
      assert.strictEqual((yield* status).pushes_as, grace)
      yield* look
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary })
      const db = yield* raw
      db.exec(
        "UPDATE members SET role = 'member' WHERE user_id = (SELECT id FROM users WHERE email = 'grace@example.com')"
      )
      yield* setSecret(ada, "STRIPE_KEY", "another")
      const asked = kv.arrived.length
      assert.strictEqual(yield* look, 1)
      assert.lengthOf(kv.arrived, asked)
      assert.match((yield* status).paused ?? "", /^grace@example.com has no admin right in webshop\/prod any more/)
      const [failure] = yield* failures
      assert.deepInclude(failure?.metadata, { stopped: true, name: "bao" })
      assert.isEmpty((yield* entries()).filter(({ action }) => action === "access.denied"))
      assert.strictEqual(yield* look, 0)
      yield* change({ paused: false })
      assert.deepInclude(yield* status, { paused: null, pushes_as: "ada@example.com" })
      yield* look
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "another" })
    }).pipe(asAutomatic)
  )

  it.effect("are lost with a disabled account, and while a push is prepared", () =>
    Effect.gen(function* () {
      const { kv } = yield* world({ automatic: "push" })
      yield* member(grace, "admin")
      yield* change({ automatic: "push" }, grace)
      const db = yield* raw
      kv.before = ({ method }) => {
        if (method === "GET") {
          db.exec("UPDATE users SET disabled_at = '2026-01-01T00:00:00.000Z' WHERE email = 'grace@example.com'")
        }
        return Promise.resolve(undefined)
      }
      yield* look
      assert.lengthOf(kv.writes(), 0)
      assert.match((yield* status).paused ?? "", /has no admin right/)
    }).pipe(asAutomatic)
  )
})

describe("a platform without an answer", () => {
  it.effect("is tried again after 1 minute, then ever later, up to 6 hours; owners are mailed once a day", () =>
    Effect.gen(function* () {
      const { kv } = yield* world({ automatic: "push" })
      const sent: Array<string> = []
      const looks = keepingMails(sent)(look)
      kv.before = () => Promise.resolve(500)
      yield* looks
      assert.deepInclude(yield* status, { failures: 1, problem: "it answered with the status 500" })
      assert.lengthOf(sent, 0)
      assert.strictEqual(yield* looks, 0)
      yield* TestClock.adjust(1.3 * minute)
      assert.strictEqual(yield* looks, 1)
      assert.lengthOf(sent, 1)
      assert.match(sent[0] ?? "", /acme\/webshop\/prod bao \(vault\): it answered with the status 500/)
      for (let tries = 0; tries < 12; tries++) {
        yield* TestClock.adjust(8 * 60 * minute)
        yield* looks
      }
      // 12 tries in 4 days.
      assert.isAtMost(sent.length, 5)
      assert.lengthOf(yield* failures, 14)
      for (const { metadata } of yield* failures) assert.notMatch(JSON.stringify(metadata), /Canary/)
      kv.before = () => Promise.resolve(undefined)
      yield* TestClock.adjust(8 * 60 * minute)
      yield* looks
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary })
      assert.deepInclude(yield* status, { failures: 0, problem: null, retry_at: null })
    }).pipe(asAutomatic)
  )

  it.effect("is tried again at once when the credential is set anew", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ automatic: "push" })
      yield* setSecret(ada, "VAULT_TOKEN", "a revoked token")
      for (let tries = 0; tries < 5; tries++) {
        yield* look
        yield* TestClock.adjust(hour)
      }
      yield* look
      assert.deepInclude(yield* status, {
        failures: 6,
        problem: "it answered with the status 403: the credential may not do this there"
      })
      yield* setSecret(ada, "STRIPE_KEY", "another")
      assert.strictEqual(yield* look, 0)
      yield* writeBundle(ada, { set: { VAULT_TOKEN: token, SECOND: "two" } })
      assert.strictEqual(yield* look, 1)
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "another", SECOND: "two" })
      assert.deepInclude(yield* status, { failures: 0, problem: null, retry_at: null })
    }).pipe(asAutomatic)
  )

  it("waits 1, 2, 4 minutes and so on, and never longer than 6 hours", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 9, 10, 50].map((failures) => backoffMillis(failures) / minute),
      [1, 2, 4, 256, 360, 360]
    )
  })
})

describe("a copy of a database", () => {
  it.effect("pushes nothing by itself until somebody resumes it", () =>
    Effect.gen(function* () {
      const { kv } = yield* world({ automatic: "push" })
      yield* transaction(stopPushes)
      assert.match((yield* status).paused ?? "", /^the database is a copy/)
      assert.strictEqual(yield* look, 0)
      assert.lengthOf(kv.arrived, 0)
      yield* change({ paused: false })
      assert.strictEqual(yield* look, 1)
    }).pipe(asAutomatic)
  )
})

describe("the hourly check", () => {
  /** One look of the job at the targets whose check is due. Returns how many were. */
  const checks = Effect.gen(function* () {
    const { dueChecks } = yield* targetsRepo
    const check = yield* makeHourlyChecks
    const rows = yield* dueChecks({ limit: 100 })
    yield* Effect.forEach(rows, ({ id }) => check(id), { discard: true })
    return rows.length
  })

  it.effect("says what somebody changed or removed there, and changes nothing", () =>
    Effect.gen(function* () {
      const { kv } = yield* world({ automatic: "push" })
      assert.strictEqual(yield* checks, 0)
      yield* look
      assert.strictEqual((yield* status).state, "in step")
      kv.write(path, { STRIPE_KEY: "by hand" })
      assert.strictEqual(yield* checks, 0)
      yield* TestClock.adjust(1.2 * hour)
      assert.strictEqual(yield* checks, 1)
      assert.deepInclude(yield* status, { state: "changed there", checked_at: "2026-01-31T13:12:00.000Z" })
      kv.write(path, { OTHER: "x" })
      yield* TestClock.adjust(1.2 * hour)
      yield* checks
      assert.strictEqual((yield* status).state, "missing there")
      assert.strictEqual(yield* look, 0)
      assert.deepStrictEqual(kv.data(path), { OTHER: "x" })
      kv.before = () => Promise.resolve(500)
      yield* TestClock.adjust(1.2 * hour)
      yield* checks
      assert.strictEqual((yield* status).state, "unknown")
    }).pipe(asAutomatic)
  )

  it.effect("is followed by a push where the target is to be repaired", () =>
    Effect.gen(function* () {
      const { kv } = yield* world({ automatic: "repair" })
      yield* look
      kv.write(path, { STRIPE_KEY: "by hand", OTHER: "x" })
      assert.strictEqual(yield* look, 0)
      yield* TestClock.adjust(1.2 * hour)
      yield* checks
      assert.strictEqual(yield* look, 1)
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary, OTHER: "x" })
      assert.strictEqual((yield* status).state, "in step")
    }).pipe(asAutomatic)
  )
})

describe("an interrupted push by the server", () => {
  it.effect("at any statement is made by the next look, and the newest values are there", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ automatic: "push" })
      let at = 1
      for (; ; at++) {
        yield* setSecret(ada, "STRIPE_KEY", `value ${at}`)
        const { hit } = yield* failing(at, look)
        // Its claim passes, as does the wait after a failure.
        yield* TestClock.adjust(10 * hour)
        yield* look
        assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: `value ${at}` }, `statement ${at}`)
        if (!hit) break
      }
      assert.isAtLeast(at, 15)
    }).pipe(asAutomatic)
  )
})
