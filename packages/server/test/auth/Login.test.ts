import { Login } from "@coffer/server/directory/login/Login"
import { hashToken } from "@coffer/server/keys/Token"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Duration, Effect, Redacted, TestClock } from "effect"
import { inspect } from "node:util"
import {
  email,
  entries,
  failing,
  freshPlace,
  isOnPostgres,
  invariantsIn,
  onDatabase,
  Outbox,
  outcome,
  person,
  servicesIn
} from "../support/Services.js"

const ada = email("ada@example.com")
const bob = email("bob@example.com")
const start = Date.UTC(2026, 0, 31, 12)

/** The moment so many seconds, or a duration, after the start. */
const at = (after: Duration.DurationInput) => TestClock.setTime(start + Duration.toMillis(after))

const request = (address = ada) => Effect.flatMap(Login, (login) => login.request(address))
const verify = (code: string, address = ada) =>
  Effect.flatMap(Login, (login) => login.verify(address, Redacted.make(code)))

const mails = Effect.map(Outbox, (outbox) => outbox.map(({ code, to }) => [to, Redacted.value(code)] as const))
const lastCode = Effect.map(mails, (sent) => sent.at(-1)?.[1] ?? "none")

/** Asks for a code and gives it; the token. */
const logIn = (address = ada) =>
  Effect.gen(function* () {
    yield* request(address)
    return Redacted.value(yield* verify(yield* lastCode, address))
  })

/** A code that is not the one that was mailed. */
const wrong = Effect.map(lastCode, (code) => (code === "000000" ? "000001" : "000000"))

const failuresOf = (address = ada) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM login_failures WHERE email = ${address}`
    return row!.count
  })

const retryAfter = <A, R>(effect: Effect.Effect<A, { readonly code: string; readonly retryAfter?: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ code, retryAfter: seconds }) => [code, seconds] as const)

describe("a login code", () => {
  it.effect("is mailed, and exchanged for a session's token once", () =>
    Effect.gen(function* () {
      yield* request()
      const [[to, code] = ["", ""]] = yield* mails
      assert.strictEqual(to, ada)
      assert.match(code, /^[0-9]{6}$/)
      const token = yield* verify(code)
      assert.match(Redacted.value(token), /^svc_st_[0-9A-Za-z]{49}$/)
      assert.notInclude(inspect(token), Redacted.value(token))
      assert.strictEqual(yield* outcome(verify(code)), "InvalidCode")
    }).pipe(onDatabase())
  )

  it.effect("makes a user of who verifies first, named by the part before the @, and the same user ever after", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* request()
      assert.deepStrictEqual(yield* sql`SELECT id FROM users`, [], "asking alone makes nobody")
      yield* verify(yield* lastCode)
      const [first] = yield* sql`SELECT id, email, name, superadmin FROM users`
      assert.deepInclude(first, { email: ada, name: "ada", superadmin: 0 })
      assert.match(String(first!.id), /^[0-9a-f]{8}-[0-9a-f]{4}-4/, "of version 4, which has no age")
      yield* logIn()
      assert.strictEqual((yield* sql`SELECT id FROM users`).length, 1)
      assert.strictEqual((yield* sql`SELECT id FROM sessions`).length, 2)
    }).pipe(onDatabase())
  )

  it.effect("is good until 10 minutes have passed, to the millisecond", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* request(ada)
      yield* request(bob)
      const [first = "", second = ""] = (yield* mails).map(([, code]) => code)
      yield* at("599999 millis")
      assert.strictEqual(yield* outcome(verify(first, ada)), "success")
      yield* at("600000 millis")
      assert.strictEqual(yield* outcome(verify(second, bob)), "InvalidCode")
    }).pipe(onDatabase())
  )

  it.effect("is replaced by the next one", () =>
    Effect.gen(function* () {
      yield* request()
      const first = yield* lastCode
      yield* request()
      const second = yield* lastCode
      if (first !== second) assert.strictEqual(yield* outcome(verify(first)), "InvalidCode")
      assert.strictEqual(yield* outcome(verify(second)), first === second ? "success" : "InvalidCode")
      yield* request()
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
    }).pipe(onDatabase())
  )

  it.effect("is gone after one wrong guess", () =>
    Effect.gen(function* () {
      yield* request()
      assert.strictEqual(yield* outcome(verify(yield* wrong)), "InvalidCode")
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "InvalidCode")
    }).pipe(onDatabase())
  )

  it.effect("is good for its own address alone", () =>
    Effect.gen(function* () {
      yield* request(ada)
      const code = yield* lastCode
      assert.strictEqual(yield* outcome(verify(code, bob)), "InvalidCode")
      assert.strictEqual(yield* outcome(verify(code, ada)), "success")
    }).pipe(onDatabase())
  )

  it.effect("is refused in the same words whether it is wrong, used, expired or was never requested", () =>
    Effect.gen(function* () {
      yield* at(0)
      const refused = (code: string, address = ada) =>
        Effect.map(Effect.flip(verify(code, address)), ({ _tag, message }) => `${_tag} ${message}`)
      const never = yield* refused("123456", bob)
      yield* request()
      const wrongOne = yield* refused(yield* wrong)
      yield* logIn()
      const used = yield* refused(yield* lastCode)
      yield* request()
      yield* at("10 minutes")
      const expired = yield* refused(yield* lastCode)
      assert.strictEqual(new Set([never, wrongOne, used, expired]).size, 1)
    }).pipe(onDatabase())
  )

  it.effect("is used once, even by many at the same time", () =>
    Effect.gen(function* () {
      yield* request()
      const code = yield* lastCode
      const outcomes = yield* Effect.all(
        Array.makeBy(8, () => outcome(verify(code))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...outcomes].sort(), [...Array.replicate("InvalidCode", 7), "success"])
      assert.strictEqual((yield* (yield* SqlClient.SqlClient)`SELECT id FROM sessions`).length, 1)
    }).pipe(onDatabase())
  )

  it.effect("is stored as a MAC alone, and the token as a hash", () =>
    Effect.gen(function* () {
      yield* request()
      const code = yield* lastCode
      const token = Redacted.value(yield* verify(code))
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ mac: Uint8Array }>`SELECT mac FROM login_codes`
      assert.strictEqual(row!.mac.length, 32)
      assert.deepStrictEqual(yield* sql`SELECT token_hash FROM sessions`, [{ token_hash: hashToken(token) }])
      for (const { metadata } of yield* entries("system")) {
        assert.notInclude(JSON.stringify(metadata), code)
        assert.notInclude(JSON.stringify(metadata), token)
      }
    }).pipe(onDatabase())
  )
})

describe("requests for a code", () => {
  it.effect("are 5 in 15 minutes for an address; the 6th is told how long to wait, to the second", () =>
    Effect.gen(function* () {
      for (const seconds of [0, 100, 200, 300, 400]) {
        yield* at(`${seconds} seconds`)
        assert.strictEqual(yield* outcome(request()), "success")
      }
      for (const [after, wait] of [
        ["400 seconds", 500],
        ["400001 millis", 500],
        ["400999 millis", 500],
        ["401 seconds", 499],
        ["899 seconds", 1],
        ["899999 millis", 1]
      ] as const) {
        yield* at(after)
        assert.deepStrictEqual(yield* retryAfter(request()), ["RATE_LIMITED", wait], after)
      }
      assert.strictEqual((yield* mails).length, 5)
      yield* at("900 seconds")
      assert.strictEqual(yield* outcome(request()), "success")
      assert.deepStrictEqual(yield* retryAfter(request()), ["RATE_LIMITED", 100], "the next one of the five")
      yield* at("1000 seconds")
      assert.strictEqual(yield* outcome(request()), "success")
    }).pipe(onDatabase())
  )

  it.effect("that are refused do not count and do not replace the pending code", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* Effect.repeatN(request(), 4)
      yield* at("5 minutes")
      for (let index = 0; index < 20; index++) assert.strictEqual(yield* outcome(request()), "RateLimited")
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
      yield* at("15 minutes")
      assert.strictEqual(yield* outcome(request()), "success")
    }).pipe(onDatabase())
  )

  it.effect("are counted for each address by itself, known or not", () =>
    Effect.gen(function* () {
      yield* logIn(ada)
      yield* Effect.repeatN(request(ada), 3)
      assert.strictEqual(yield* outcome(request(ada)), "RateLimited")
      assert.strictEqual(yield* outcome(request(bob)), "success")
      yield* Effect.repeatN(request(bob), 3)
      assert.strictEqual(yield* outcome(request(bob)), "RateLimited")
    }).pipe(onDatabase())
  )

  it.effect("at the same time are let through 5 times", () =>
    Effect.gen(function* () {
      const outcomes = yield* Effect.all(
        Array.makeBy(12, () => outcome(request())),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter((one) => one === "success").length, 5)
    }).pipe(onDatabase())
  )

  it.scoped("are still counted after a restart", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* at(0)
      yield* Effect.provide(Effect.repeatN(request(), 4), servicesIn(place))
      yield* at("1 minute")
      const waiting = yield* Effect.provide(retryAfter(request()), servicesIn(place))
      assert.deepStrictEqual(waiting, ["RATE_LIMITED", 840])
      yield* invariantsIn(place)
    })
  )
})

describe("failed verifications", () => {
  it.effect("are 10 within the hour for an address; then it is locked, with the right code too", () =>
    Effect.gen(function* () {
      for (let minute = 0; minute < 10; minute++) {
        yield* at(`${minute} minutes`)
        assert.strictEqual(yield* outcome(verify("000000")), "InvalidCode", `failure ${minute + 1}`)
      }
      yield* request()
      const code = yield* lastCode
      for (const [after, wait] of [
        ["540 seconds", 3060],
        ["540001 millis", 3060],
        ["541 seconds", 3059]
      ] as const) {
        yield* at(after)
        assert.deepStrictEqual(yield* retryAfter(verify(code)), ["LOCKED_OUT", wait], after)
      }
      yield* at("3599 seconds")
      yield* request()
      assert.deepStrictEqual(yield* retryAfter(verify(yield* lastCode)), ["LOCKED_OUT", 1])
      yield* at("3600 seconds")
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success", "the first of the ten is an hour old")
    }).pipe(onDatabase())
  )

  it.effect("of a locked address do not count or prolong the lock, and leave the code as it is", () =>
    Effect.gen(function* () {
      yield* at(0)
      for (let index = 0; index < 10; index++) yield* outcome(verify("000000"))
      for (const minutes of [1, 30, 59]) {
        yield* at(`${minutes} minutes`)
        yield* request()
        for (let index = 0; index < 15; index++) assert.strictEqual(yield* outcome(verify("111111")), "LockedOut")
      }
      assert.strictEqual(yield* failuresOf(), 10)
      yield* at("60 minutes")
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
    }).pipe(onDatabase())
  )

  it.effect("let a right code through up to the 10th, which does not count as failed", () =>
    Effect.gen(function* () {
      yield* at(0)
      for (let index = 0; index < 9; index++) yield* outcome(verify("000000"))
      for (const minutes of [0, 1, 2]) {
        yield* at(`${minutes} minutes`)
        yield* logIn()
      }
      assert.strictEqual(yield* failuresOf(), 9)
      yield* outcome(verify("000000"))
      assert.strictEqual(yield* outcome(verify("000000")), "LockedOut")
    }).pipe(onDatabase())
  )

  it.effect("lock an unknown address like a known one, and no other address", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* logIn(ada)
      for (const address of [ada, bob]) {
        for (let index = 0; index < 10; index++) yield* outcome(verify("000000", address))
        assert.deepStrictEqual(yield* retryAfter(verify("000000", address)), ["LOCKED_OUT", 3600])
      }
      assert.match(yield* logIn(email("carol@example.com")), /^svc_st_/)
    }).pipe(onDatabase())
  )

  it.effect("leave sessions alone", () =>
    Effect.gen(function* () {
      const token = yield* logIn()
      for (let index = 0; index < 12; index++) yield* outcome(verify("000000"))
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT token_hash FROM sessions`, [{ token_hash: hashToken(token) }])
    }).pipe(onDatabase())
  )

  it.effect("at the same time are counted each: guessing all at once helps nobody", () =>
    Effect.gen(function* () {
      yield* request()
      const guesses = yield* Effect.all(
        Array.makeBy(30, (guess) => outcome(verify(String(guess).padStart(6, "0")))),
        { concurrency: "unbounded" }
      )
      assert.isAtMost(guesses.filter((one) => one !== "LockedOut").length, 11)
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "LockedOut")
    }).pipe(onDatabase())
  )

  it.effect.skipIf(isOnPostgres())("are counted even when everything after the count fails", () =>
    Effect.gen(function* () {
      yield* request()
      const [code, guess] = [yield* lastCode, yield* wrong]
      let [at, reached] = [1, true]
      for (; reached; at++) {
        const before = yield* failuresOf()
        const { exit, hit } = yield* failing(at, verify(at % 2 === 0 ? code : guess))
        reached = hit
        const counted = (yield* failuresOf()) - before
        // A failure of the count itself is the first four statements: then nothing was compared either.
        assert.strictEqual(counted, at <= 4 && hit ? 0 : 1, `statement ${at}`)
        assert.strictEqual(exit._tag, "Failure")
        assert.strictEqual((yield* (yield* SqlClient.SqlClient)`SELECT id FROM sessions`).length, 0)
        if (before >= 8) yield* (yield* SqlClient.SqlClient)`DELETE FROM login_failures`
      }
      assert.isAbove(at, 5)
    }).pipe(onDatabase())
  )

  it.scoped("are still counted after a restart", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* at(0)
      const guesses = (count: number) => Effect.repeatN(outcome(verify("000000")), count - 1)
      yield* Effect.provide(guesses(6), servicesIn(place))
      yield* Effect.provide(guesses(4), servicesIn(place))
      assert.strictEqual(yield* Effect.provide(outcome(verify("000000")), servicesIn(place)), "LockedOut")
      yield* invariantsIn(place)
    })
  )

  it.effect("and all else about logging in are in the log of what belongs to no organization", () =>
    Effect.gen(function* () {
      yield* request()
      for (let index = 0; index < 10; index++) yield* outcome(verify(yield* wrong))
      yield* outcome(verify("000000"))
      yield* logIn(bob)
      const user = yield* person(bob)
      const found = yield* entries("system")
      assert.deepStrictEqual(
        found.map(({ action, actor }) => `${action} ${actor}`),
        [
          `auth.login ${ada}`,
          ...Array.replicate(`auth.verify_failed ${ada}`, 10),
          `auth.lockout ${ada}`,
          `auth.login ${bob}`,
          `auth.verify ${bob}`
        ]
      )
      assert.deepInclude(found[0], { actor_id: null, resource: ["user", null] })
      assert.deepInclude(found.at(-1), { actor_id: user.id, resource_type: "session" })
    }).pipe(onDatabase())
  )
})

describe("who may sign up", () => {
  it.effect("is everybody, unless the configuration says otherwise", () =>
    Effect.gen(function* () {
      assert.match(yield* logIn(email("nobody@nowhere.example")), /^svc_st_/)
    }).pipe(onDatabase())
  )

  it.effect("is who is known or of an allowed domain, where sign-up is by invitation", () =>
    Effect.gen(function* () {
      yield* person("ada@example.com")
      for (const address of ["ada@example.com", "carol@coffer.example", "dave@second.example"]) {
        assert.match(yield* logIn(email(address)), /^svc_st_/, address)
      }
      const sent = (yield* mails).length
      for (const address of [
        "eve@example.com",
        "eve@xcoffer.example",
        "eve@sub.coffer.example",
        "coffer.example@evil.org"
      ]) {
        assert.strictEqual(yield* outcome(request(email(address))), "success", "the same answer")
      }
      assert.strictEqual((yield* mails).length, sent, "and no mail")
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT email FROM users WHERE email LIKE '%eve%'`, [])
    }).pipe(onDatabase({ SERVICE_SIGNUP: "invited", SERVICE_SIGNUP_DOMAINS: "coffer.example,second.example" }))
  )

  it.effect("makes no difference to the limits: strangers are limited and locked alike", () =>
    Effect.gen(function* () {
      yield* Effect.repeatN(request(bob), 4)
      assert.strictEqual(yield* outcome(request(bob)), "RateLimited")
      for (let index = 0; index < 10; index++) yield* outcome(verify("000000", bob))
      assert.strictEqual(yield* outcome(verify("000000", bob)), "LockedOut")
    }).pipe(onDatabase({ SERVICE_SIGNUP: "invited" }))
  )
})
