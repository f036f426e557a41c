import { Mailer } from "@coffer/server/base/mail/Mailer"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { scramVerifier } from "@coffer/server/secrets/connections/Postgres"
import { backoffMillis, mostFailures } from "@coffer/server/secrets/rotations/RotationTurns"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import { entries, outcome, setSecret } from "../support/Services.js"
import {
  change,
  create,
  drawnNames,
  loggingIn,
  remove,
  removeEnvironment,
  rotationId,
  runNow,
  show,
  targetOf,
  terms,
  turns,
  valueOf,
  withRotations,
  world
} from "./World.js"

describe("a rotation", () => {
  it.effect("gives the idle user a new password and writes it, and leaves the other one valid", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* create(terms(database))
      const { turn } = yield* turns
      const id = yield* rotationId
      yield* turn(id)
      assert.strictEqual((yield* loggingIn(ada, database)).user, "app_a", "nothing is due before its time")

      yield* runNow
      yield* turn(id)
      const first = yield* loggingIn(ada, database)
      assert.strictEqual(first.user, "app_b")
      assert.match(first.password, /^[A-Za-z0-9]{32}$/)
      assert.isTrue(yield* Effect.promise(() => database.admits("app_a", "first-a")))
      const done = yield* show
      assert.deepInclude(done, { state: "idle", next_user: "app_a", failures: 0, problem: null, paused: null })
      assert.isNotNull(done.rotated_at)

      yield* TestClock.adjust("30 days")
      yield* turn(id)
      const second = yield* loggingIn(ada, database)
      assert.strictEqual(second.user, "app_a")
      assert.isFalse(yield* Effect.promise(() => database.admits("app_a", "first-a")))
      assert.isTrue(yield* Effect.promise(() => database.admits("app_b", first.password)))

      const log = yield* entries()
      const rotated = log.filter(({ action }) => action === "secret.rotated")
      assert.deepStrictEqual(
        rotated.map(({ actor, actor_type }) => [actor_type, actor]),
        [
          ["system", "rotation shop-app"],
          ["system", "rotation shop-app"]
        ]
      )
      const text = JSON.stringify(log)
      for (const { password } of [first, second]) assert.isFalse(text.includes(password))
    }).pipe(withRotations)
  )

  it.effect("writes all of its texts in one revision, each escaped for where it stands", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* Effect.promise(() => database.query(`CREATE ROLE "o'br""ien; DROP" LOGIN`))
      const alphabet = "\"'\\%@:/?#&{}$"
      yield* create({
        ...terms(database),
        users: ["o'br\"ien; DROP"],
        alphabet,
        length: 40,
        writes: {
          DATABASE_URL: terms(database).writes["DATABASE_URL"]!,
          JSON_FORM: '{"user":"{user}","password":"{password}"}',
          DB_PASSWORD: "{password}"
        }
      })
      yield* runNow
      yield* (yield* turns).turn(yield* rotationId)
      assert.isNull((yield* show).problem)
      const { password, user } = yield* loggingIn(ada, database)
      assert.strictEqual(user, "o'br\"ien; DROP")
      assert.strictEqual(password, yield* valueOf(ada, "DB_PASSWORD"))
      assert.deepStrictEqual(JSON.parse(yield* valueOf(ada, "JSON_FORM")), { user, password })
      const roles = yield* Effect.promise(() =>
        database.query("SELECT count(*)::int AS n FROM pg_roles WHERE rolname LIKE 'app%'")
      )
      assert.strictEqual(roles[0]?.["n"], 2)
    }).pipe(withRotations)
  )

  it.effect("is refused if a text cannot hold a password, or could not tell which user it is", () =>
    Effect.gen(function* () {
      const { database } = yield* world
      const sound = terms(database)
      const refused = {
        "libpq's form with symbols": {
          ...sound,
          alphabet: "abcdefghij '".replace(" ", "!"),
          writes: { A: "user={user} password={password}" }
        },
        "no user of two": { ...sound, writes: { A: "{password}" } },
        "no password": { ...sound, writes: { A: "{user}" } },
        "another slot": { ...sound, writes: { A: "postgres://{user}:{pass}@x/{password}" } },
        "a slot outside of a string of JSON": { ...sound, writes: { A: '{"a":{password}}' } },
        "the connection's own user": { ...sound, users: ["renewer"] },
        "the connection's own password": { ...sound, writes: { ...sound.writes, RENEWER: "{password}" } },
        "a short password": { ...sound, length: 16, alphabet: "0123456789" }
      }
      for (const [what, request] of Object.entries(refused)) {
        assert.strictEqual(yield* outcome(create(request)), "ValidationError", what)
      }
      yield* create({ ...sound, writes: { A: "user={user} password={password}" } })
    }).pipe(withRotations)
  )

  it.effect("tries again ever later, writes nothing that does not log in, and pauses after ten failures", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* create(terms(database))
      yield* setSecret(ada, "RENEWER", "wrong")
      const sent: Array<string> = []
      const mailer = Mailer.make({
        sendLoginCode: () => Effect.void,
        sendInvitation: () => Effect.void,
        sendNotice: ({ text }) => Effect.sync(() => void sent.push(text))
      })
      const { turn } = yield* Effect.provideService(turns, Mailer, mailer)
      const id = yield* rotationId
      yield* runNow
      for (let failures = 1; failures <= mostFailures; failures++) {
        yield* turn(id)
        assert.lengthOf(sent, failures < 2 ? 0 : 1, "at most once a day")
        assert.deepInclude(yield* show, {
          failures,
          state: "drawn",
          problem: "the database refused the login: check the connection's user and the secret with its password"
        })
        yield* turn(id)
        assert.strictEqual((yield* show).failures, failures, "not before its time")
        yield* TestClock.adjust(backoffMillis(failures))
      }
      assert.match((yield* show).paused ?? "", /^10 tries in a row failed: the database refused/)
      assert.strictEqual((yield* loggingIn(ada, database)).user, "app_a")
      const failed = (yield* entries()).filter(({ action }) => action === "rotation.failed")
      assert.lengthOf(failed, mostFailures)
      assert.strictEqual(yield* outcome(runNow), "Conflict")
      assert.match(
        sent[0] ?? "",
        /shop-app of acme\/webshop\/prod by the connection shop-db fails: the database refused the login: check the connection's user and the secret with its password\./
      )

      yield* setSecret(ada, "RENEWER", "canary-renewer-1")
      yield* change({ paused: false })
      yield* turn(id)
      assert.deepInclude(yield* show, { state: "idle", paused: null, failures: 0 })
      assert.strictEqual((yield* loggingIn(ada, database)).user, "app_b")
    }).pipe(withRotations)
  )

  it.effect("waits for its window, but not if a person runs it", () =>
    Effect.gen(function* () {
      // 31 January 2026 is a Saturday.
      yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
      const { ada, database } = yield* world
      const window = { days: ["sun"], from: "02:00", to: "04:00", zone: "Europe/Berlin" } as const
      yield* create({ ...terms(database), every: "1h", window })
      const { turn } = yield* turns
      const id = yield* rotationId
      yield* TestClock.adjust("1 hour")
      yield* turn(id)
      assert.deepInclude(yield* show, { state: "idle", due_at: "2026-02-01T01:00:00.000Z" })
      yield* runNow
      yield* turn(id)
      assert.strictEqual((yield* loggingIn(ada, database)).user, "app_b")
    }).pipe(withRotations)
  )

  it.effect("with one user cannot be removed within a turn", () =>
    Effect.gen(function* () {
      const { database } = yield* world
      yield* create({ ...terms(database), users: ["app_a"] })
      yield* runNow
      const { step, turn } = yield* turns
      const id = yield* rotationId
      yield* step(id)
      yield* step(id)
      assert.strictEqual((yield* show).state, "changed")
      assert.strictEqual(yield* outcome(remove), "Conflict")
      yield* turn(id)
      yield* remove
    }).pipe(withRotations)
  )

  it.effect("loses the password that it has drawn when its environment is erased, and not before", () =>
    Effect.gen(function* () {
      const { database } = yield* world
      yield* create(terms(database))
      yield* runNow
      const { step } = yield* turns
      const id = yield* rotationId
      yield* step(id)
      const { sweep } = yield* Maintenance
      const drawn = [`rotation/${id}/1`]
      yield* removeEnvironment
      yield* TestClock.adjust("29 days")
      yield* sweep
      assert.deepStrictEqual(yield* drawnNames, drawn)
      yield* TestClock.adjust("1 day")
      yield* sweep
      assert.deepStrictEqual(yield* drawnNames, [])
    }).pipe(Effect.provide(Maintenance.Default), withRotations)
  )

  it.effect("changes no password unless the server confirms that the step is still its own", () =>
    Effect.gen(function* () {
      const { database } = yield* world
      const target = targetOf(database)
      const login = { user: "app_a", password: Redacted.make("another") }
      const lost = yield* Effect.exit(kinds.postgres.change(target, login, Effect.die("the lease was lost")))
      assert.strictEqual(lost._tag, "Failure")
      assert.isTrue(yield* Effect.promise(() => database.admits("app_a", "first-a")))
    }).pipe(withRotations)
  )
})

describe("the verifier of a password", () => {
  it("is that of RFC 7677", async () => {
    const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64")
    assert.strictEqual(
      await scramVerifier("pencil", salt),
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )
  })
})
