import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { ServiceAccountName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Login } from "@coffer/server/directory/login/Login"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { KeySessions } from "@coffer/server/edges/vault/KeySessions"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, TestClock } from "effect"
import { exchange, withIssuer, world } from "../federations/World.js"
import {
  asActor,
  email,
  onDatabase,
  organization,
  orgPath,
  outcome,
  Outbox,
  person,
  transaction,
  withKey
} from "../support/Services.js"

const count = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT count(*) AS count FROM ${sql(table)}`
    return (rows[0] as { count: number }).count
  })

const sweep = Effect.flatMap(Maintenance, ({ sweep }) => sweep).pipe(Effect.provide(Maintenance.Default))

const logIn = (address: string) =>
  Effect.gen(function* () {
    const login = yield* Login
    yield* login.request(email(address))
    const { code } = (yield* Outbox).at(-1) ?? { code: Redacted.make("") }
    return yield* login.verify(email(address), code)
  })

describe("the hourly maintenance", () => {
  it.effect("deletes sessions at 30 days of age and not before", () =>
    Effect.gen(function* () {
      yield* logIn("ada@example.com")
      yield* TestClock.adjust("29 days")
      yield* logIn("grace@example.com")
      yield* TestClock.adjust("86399999 millis")
      yield* sweep
      assert.strictEqual(yield* count("sessions"), 2)
      yield* TestClock.adjust("1 millis")
      yield* sweep
      assert.strictEqual(yield* count("sessions"), 1)
    }).pipe(onDatabase())
  )

  it.effect("deletes sessions of browsers after 12 idle hours and not before, and no others for that", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      const start = (kind: "token" | "cookie") =>
        Effect.flatMap(Sessions, (sessions) =>
          transaction(sessions.start({ id: ada.id, ended: 0, provenAt: null }, kind))
        )
      yield* start("cookie")
      yield* start("token")
      yield* TestClock.adjust("1 hour")
      yield* start("cookie")
      const before = yield* count("sessions")
      yield* TestClock.adjust(Duration.subtract("11 hours", "1 millis"))
      yield* sweep
      assert.strictEqual(yield* count("sessions"), before)
      yield* TestClock.adjust("1 millis")
      yield* sweep
      assert.strictEqual(yield* count("sessions"), before - 1)
    }).pipe(onDatabase())
  )

  it.effect("deletes sessions of service accounts after the hour that no session outlasts, and not before", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      yield* exchange(yield* Effect.promise(() => signer.sign(claims)))
      yield* TestClock.adjust("3599999 millis")
      yield* sweep
      assert.strictEqual(yield* count("federated_sessions"), 1)
      yield* TestClock.adjust("1 millis")
      yield* sweep
      assert.strictEqual(yield* count("federated_sessions"), 0)
    }).pipe(withIssuer)
  )

  it.effect("deletes sessions of keys after their end, which a renewal moves, and not before", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      yield* organization()
      const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "service_account.create")).pipe(
        asActor(ada)
      )
      const accounts = yield* ServiceAccounts
      const { api_key } = yield* Effect.flatMap(
        transaction(accounts.create(place, { name: ServiceAccountName.make("deploy") })),
        withKey
      )
      const { identifyAccount, identifyKey } = yield* Authenticator
      const sessions = yield* KeySessions
      const { token } = yield* Effect.flatMap(identifyKey(Redacted.value(api_key)), ({ actor }) =>
        transaction(sessions.start(actor))
      )
      yield* TestClock.adjust("30 minutes")
      yield* Effect.flatMap(identifyAccount(Redacted.value(token)), ({ actor }) => transaction(sessions.renew(actor)))
      yield* TestClock.adjust("3599999 millis")
      yield* sweep
      assert.strictEqual(yield* count("key_sessions"), 1)
      assert.strictEqual((yield* identifyAccount(Redacted.value(token))).actor.name, "deploy")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* outcome(identifyAccount(Redacted.value(token))), "Unauthorized")
      yield* sweep
      assert.strictEqual(yield* count("key_sessions"), 0)
    }).pipe(
      Effect.provide(Layer.mergeAll(KeySessions.Default, ServiceAccounts.Default, Authenticator.Default)),
      onDatabase()
    )
  )

  it.effect("deletes login codes and failures after the hour that the limits look at, and not before", () =>
    Effect.gen(function* () {
      const login = yield* Login
      yield* login.request(email("ada@example.com"))
      yield* Effect.flip(login.verify(email("ada@example.com"), Redacted.make("000000")))
      assert.deepStrictEqual([yield* count("login_codes"), yield* count("login_failures")], [1, 1])
      yield* TestClock.adjust("59 minutes")
      yield* sweep
      assert.deepStrictEqual([yield* count("login_codes"), yield* count("login_failures")], [1, 1])
      yield* TestClock.adjust("1 minutes")
      yield* sweep
      assert.deepStrictEqual([yield* count("login_codes"), yield* count("login_failures")], [0, 0])
    }).pipe(onDatabase())
  )

  it.effect("leaves a lock-out in force", () =>
    Effect.gen(function* () {
      const login = yield* Login
      const fail = Effect.flip(login.verify(email("ada@example.com"), Redacted.make("000000")))
      for (let attempt = 0; attempt < 10; attempt++) yield* fail
      yield* TestClock.adjust("30 minutes")
      yield* sweep
      assert.strictEqual((yield* fail)._tag, "LockedOut")
    }).pipe(onDatabase())
  )
})
