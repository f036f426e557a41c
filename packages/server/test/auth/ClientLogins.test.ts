import { createHash, randomBytes } from "node:crypto"
import { CodeChallenge, LoopbackUri, MachineName, TypedUserCode } from "@coffer/domain/directory/ClientLogin"
import { ClientLogins } from "@coffer/server/directory/login/ClientLogins"
import { ClientTokens } from "@coffer/server/directory/login/ClientTokens"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Clock, Duration, Effect, Redacted, Schema, TestClock } from "effect"
import { entries, loggedIn, onDatabase, outcome, person, transaction } from "../support/Services.js"

const start = Date.UTC(2026, 0, 31, 12)
const at = (after: Duration.DurationInput) => TestClock.setTime(start + Duration.toMillis(after))

const from = (ip: string, client: string | null = "cli") =>
  Effect.provideService(RequestInfo, RequestInfo.of({ id: "", ip, client, route: null, actor: null }))

const laptop = MachineName.make("adas-laptop")
const begin = (ip = "192.0.2.1") =>
  Effect.flatMap(ClientLogins, (logins) => logins.begin("https://coffer.example.com", laptop)).pipe(from(ip))

const userCode = Schema.decodeSync(TypedUserCode)
const find = (code: string, ip = "198.51.100.1") =>
  Effect.flatMap(ClientLogins, (logins) => logins.find(userCode(code))).pipe(from(ip, null))

const decide = (code: string, decision: "approve" | "refuse", address = "ada@example.com") =>
  Effect.gen(function* () {
    const login = yield* find(code)
    if (login === undefined) return false
    return yield* (yield* ClientLogins).decide(login.id, yield* loggedIn(address), decision)
  }).pipe(from("198.51.100.1", null))

const poll = (code: Redacted.Redacted) =>
  Effect.flatMap(ClientTokens, (tokens) => tokens.poll(code)).pipe(from("192.0.2.1"))

const verifier = randomBytes(32).toString("base64url")
const challenge = CodeChallenge.make(createHash("sha256").update(verifier).digest("base64url"))
const redirectUri = LoopbackUri.make("http://127.0.0.1:53682/callback")

const grant = (address = "ada@example.com") =>
  Effect.gen(function* () {
    return yield* (yield* ClientLogins).grant(yield* loggedIn(address), { redirectUri, challenge, machine: laptop })
  }).pipe(from("198.51.100.1", null))

const exchange = (code: Redacted.Redacted, text = verifier) =>
  Effect.flatMap(ClientTokens, (tokens) => tokens.exchange(code, Redacted.make(text))).pipe(from("192.0.2.1"))

/** A code that differs in the second half alone, or from the first letter on. */
const wrongHalf = (code: string) => code.slice(0, 5) + (code.endsWith("BBBB") ? "CCCC" : "BBBB")
const wrongCode = (code: string) => (code.startsWith("B") ? "C" : "B") + code.slice(1)

const retryAfter = <A, R>(effect: Effect.Effect<A, { readonly code: string; readonly retryAfter?: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ code, retryAfter: seconds }) => [code, seconds] as const)

const count = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM ${sql(table)}`
    return row?.count
  })

describe("a login by device", () => {
  it.effect("has codes as RFC 8628 wants them, which are stored as hashes and MACs", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const login = yield* begin()
      assert.match(login.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
      assert.match(Redacted.value(login.device_code), /^[A-Za-z0-9_-]{43}$/)
      assert.deepInclude(login, {
        verification_uri: "https://coffer.example.com/device",
        verification_uri_complete: `https://coffer.example.com/device?code=${login.user_code}`,
        expires_in: 600,
        interval: 5
      })
      const stored = JSON.stringify(yield* sql`SELECT * FROM client_logins`)
      assert.notInclude(stored, Redacted.value(login.device_code))
      assert.notInclude(stored, login.user_code)
      assert.notInclude(stored, login.user_code.replace("-", ""))
    }).pipe(onDatabase())
  )

  it.effect("gives a session to the program once a person has approved it, once", () =>
    Effect.gen(function* () {
      yield* at(0)
      const { device_code, user_code } = yield* begin()
      assert.deepStrictEqual(yield* outcome(poll(device_code)), "AuthorizationPending")
      assert.deepInclude(yield* find(user_code), { machine: laptop, ip: "192.0.2.1" })
      assert.isTrue(yield* decide(user_code.toLowerCase().replace("-", " "), "approve"))
      const token = yield* poll(device_code)
      assert.match(Redacted.value(token), /^svc_st_/)
      assert.strictEqual(yield* outcome(poll(device_code)), "InvalidCode")
      const [entry] = (yield* entries("system")).filter(({ action }) => action === "auth.verify")
      assert.deepInclude(entry, { actor: "ada@example.com" })
      assert.deepStrictEqual(entry?.metadata, {
        method: "device",
        machine: "adas-laptop",
        client: "cli"
      })
    }).pipe(onDatabase())
  )

  it.effect("is refused by a person for good, and the audit log says by whom", () =>
    Effect.gen(function* () {
      const { device_code, user_code } = yield* begin()
      assert.isTrue(yield* decide(user_code, "refuse"))
      assert.strictEqual(yield* outcome(poll(device_code)), "Forbidden")
      assert.isFalse(yield* decide(user_code, "approve"))
      assert.strictEqual(yield* outcome(poll(device_code)), "Forbidden")
      const [entry] = (yield* entries("system")).filter(({ action }) => action === "auth.verify_failed")
      assert.deepInclude(entry, { metadata: { method: "device", refused: true, machine: "adas-laptop" } })
      assert.strictEqual(yield* count("sessions"), 0)
    }).pipe(onDatabase())
  )

  it.effect("makes room for others when too many wait: the oldest of the network that has most ends", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const own = yield* begin()
      const now = new Date(yield* Clock.currentTimeMillis)
      const row = (network: number, index: number) => ({
        id: `${network}-${index}`,
        kind: "device",
        secret_hash: `${network}-${index}`,
        network: `198.51.${network}.1`,
        state: "pending",
        created_at: new Date(now.getTime() - 60_000 + index).toISOString(),
        expires_at: new Date(now.getTime() + 540_000).toISOString()
      })
      // 403 networks of strangers, the last with more than the others.
      const rows = Array.makeBy(403, (network) => Array.makeBy(24, (index) => row(network, index))).flat()
      const all = [...rows, ...Array.makeBy(10_000 - 1 - rows.length, (index) => row(402, 24 + index))]
      for (let at = 0; at < all.length; at += 1_000) {
        yield* sql`INSERT INTO client_logins ${sql.insert(all.slice(at, at + 1_000))}`
      }
      const pending = Effect.map(
        sql<{ id: string }>`SELECT id FROM client_logins WHERE state = 'pending'`,
        (found) => new Set(found.map(({ id }) => id))
      )
      assert.strictEqual((yield* pending).size, 10_000)
      const other = yield* begin("203.0.113.9")
      const left = yield* pending
      assert.strictEqual(left.size, 10_000)
      assert.isFalse(left.has("402-0"))
      for (const { user_code } of [own, other]) assert.isDefined(yield* find(user_code))
    }).pipe(onDatabase())
  )

  it.effect("belongs to the person who approved it first", () =>
    Effect.gen(function* () {
      const { device_code, user_code } = yield* begin()
      const login = yield* find(user_code)
      const logins = yield* ClientLogins
      const eve = yield* loggedIn("eve@example.com")
      assert.isTrue(yield* logins.decide(login!.id, eve, "approve"))
      assert.isFalse(yield* logins.decide(login!.id, yield* loggedIn("ada@example.com"), "approve"))
      assert.isFalse(yield* logins.decide(login!.id, yield* loggedIn("ada@example.com"), "refuse"))
      yield* poll(device_code)
      const [entry] = (yield* entries("system")).filter(({ action }) => action === "auth.verify")
      assert.strictEqual(entry?.actor, "eve@example.com")
    }).pipe(onDatabase())
  )

  it.effect("is good until 10 minutes have passed, for the person and for the program", () =>
    Effect.gen(function* () {
      yield* at(0)
      const first = yield* begin()
      const second = yield* begin()
      const third = yield* begin()
      yield* at("599999 millis")
      assert.isTrue(yield* decide(first.user_code, "approve"))
      assert.isTrue(yield* decide(second.user_code, "approve"))
      assert.strictEqual(yield* outcome(poll(first.device_code)), "success")
      const found = yield* find(third.user_code)
      yield* at("10 minutes")
      assert.strictEqual(yield* outcome(poll(second.device_code)), "InvalidCode")
      assert.isUndefined(yield* find(third.user_code))
      assert.isFalse(yield* (yield* ClientLogins).decide(found!.id, yield* loggedIn("ada@example.com"), "approve"))
      // The wall clock is set back: the codes stay expired.
      yield* TestClock.setTime(start)
    }).pipe(onDatabase())
  )

  it.effect("is polled every 5 seconds: earlier polls are told to slow down, and do not delay the next one", () =>
    Effect.gen(function* () {
      yield* at(0)
      const { device_code } = yield* begin()
      assert.strictEqual(yield* outcome(poll(device_code)), "AuthorizationPending")
      yield* at("1 second")
      assert.deepStrictEqual(yield* retryAfter(poll(device_code)), ["SLOW_DOWN", 5])
      yield* at("4999 millis")
      assert.deepStrictEqual(yield* retryAfter(poll(device_code)), ["SLOW_DOWN", 5])
      yield* at("5 seconds")
      assert.strictEqual(yield* outcome(poll(device_code)), "AuthorizationPending")
    }).pipe(onDatabase())
  )

  it.effect("gives one session to many polls at the same time", () =>
    Effect.gen(function* () {
      const { device_code, user_code } = yield* begin()
      yield* decide(user_code, "approve")
      const outcomes = yield* Effect.all(
        Array.makeBy(8, () => outcome(poll(device_code))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes.sort(), [...Array.replicate("InvalidCode", 7), "success"])
      assert.strictEqual(yield* count("sessions"), 1)
    }).pipe(onDatabase())
  )

  it.effect("ends after five codes that have its first half", () =>
    Effect.gen(function* () {
      const { device_code, user_code } = yield* begin()
      const other = yield* begin()
      for (let n = 0; n < 4; n++) assert.isUndefined(yield* find(wrongHalf(user_code)))
      assert.isDefined(yield* find(user_code))
      assert.isUndefined(yield* find(wrongHalf(user_code)))
      assert.isUndefined(yield* find(user_code))
      assert.strictEqual(yield* outcome(poll(device_code)), "Forbidden")
      assert.isDefined(yield* find(other.user_code), "others go on")
    }).pipe(onDatabase())
  )

  it.effect("cannot be guessed: after 10 wrong codes in 15 minutes, a network has no more, not even a right one", () =>
    Effect.gen(function* () {
      yield* at(0)
      const { user_code } = yield* begin()
      for (let n = 0; n < 10; n++) assert.isUndefined(yield* find(wrongCode(user_code), "198.51.100.9"))
      yield* at("5 minutes")
      assert.deepStrictEqual(yield* retryAfter(find(user_code, "198.51.100.9")), ["RATE_LIMITED", 600])
      assert.isDefined(yield* find(user_code, "198.51.100.10"))
    }).pipe(onDatabase())
  )

  it.effect("can be begun 30 times in 15 minutes from a network, and goes after an hour", () =>
    Effect.gen(function* () {
      yield* at(0)
      for (let n = 0; n < 30; n++) yield* begin()
      assert.deepStrictEqual(yield* retryAfter(begin()), ["RATE_LIMITED", 900])
      yield* begin("192.0.2.2")
      assert.strictEqual(yield* count("client_logins"), 31)
      yield* at("61 minutes")
      yield* Effect.flatMap(Maintenance, ({ sweep }) => sweep).pipe(Effect.provide(Maintenance.Default))
      assert.strictEqual(yield* count("client_logins"), 0)
    }).pipe(onDatabase())
  )

  it.effect("gives nothing when the person is disabled, or has ended all sessions, before the program asks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const first = yield* begin()
      yield* decide(first.user_code, "approve")
      yield* transaction(
        Effect.flatMap(Sessions, (sessions) => Effect.flatMap(person("ada@example.com"), sessions.endAll))
      )
      assert.strictEqual(yield* outcome(poll(first.device_code)), "Forbidden")
      const second = yield* begin()
      yield* decide(second.user_code, "approve", "bob@example.com")
      yield* sql`UPDATE users SET disabled_at = '2026-01-31T12:00:00.000Z' WHERE email = 'bob@example.com'`
      assert.strictEqual(yield* outcome(poll(second.device_code)), "InvalidCode")
      assert.strictEqual(yield* count("sessions"), 0)
    }).pipe(onDatabase())
  )
})

const endAll = (address = "ada@example.com") =>
  transaction(Effect.flatMap(Sessions, (sessions) => Effect.flatMap(person(address), sessions.endAll)))

describe("a person who has logged in to approve a login of a program", () => {
  it.effect("cannot once all sessions are ended, and can after another login", () =>
    Effect.gen(function* () {
      const logins = yield* ClientLogins
      const { device_code, user_code } = yield* begin()
      const { id } = (yield* find(user_code))!
      const before = yield* loggedIn("ada@example.com")
      const bob = yield* loggedIn("bob@example.com")
      yield* endAll()
      for (const decision of ["approve", "refuse"] as const) {
        assert.strictEqual(yield* outcome(logins.decide(id, before, decision)), "Forbidden")
      }
      const to = { redirectUri, challenge, machine: laptop }
      assert.strictEqual(yield* outcome(logins.grant(before, to)), "Forbidden")
      assert.strictEqual(yield* outcome(poll(device_code)), "AuthorizationPending")
      assert.strictEqual(yield* count("client_logins"), 1)
      assert.strictEqual(yield* outcome(logins.grant(bob, to)), "success", "another person is not concerned")
      assert.isTrue(yield* logins.decide(id, yield* loggedIn("ada@example.com"), "approve"))
      assert.strictEqual(yield* outcome(poll(device_code)), "success")
    }).pipe(onDatabase())
  )

  it.effect("cannot while disabled", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ada = yield* loggedIn("ada@example.com")
      yield* sql`UPDATE users SET disabled_at = '2026-01-31T12:00:00.000Z' WHERE email = 'ada@example.com'`
      const granted = Effect.flatMap(ClientLogins, (logins) =>
        logins.grant(ada, { redirectUri, challenge, machine: laptop })
      )
      assert.strictEqual(yield* outcome(granted), "Forbidden")
    }).pipe(onDatabase())
  )
})

describe("a login by browser on the same machine", () => {
  it.effect("gives a session for the code and the verifier, once", () =>
    Effect.gen(function* () {
      const code = yield* grant()
      assert.match(Redacted.value(yield* exchange(code)), /^svc_st_/)
      assert.strictEqual(yield* outcome(exchange(code)), "InvalidCode")
      const [entry] = (yield* entries("system")).filter(({ action }) => action === "auth.verify")
      assert.deepInclude(entry, {
        metadata: { method: "loopback", machine: "adas-laptop", client: "cli" }
      })
    }).pipe(onDatabase())
  )

  it.effect("gives nothing to the thief of a code: without the verifier, the code is used up", () =>
    Effect.gen(function* () {
      const code = yield* grant()
      assert.strictEqual(yield* outcome(exchange(code, randomBytes(32).toString("base64url"))), "InvalidCode")
      assert.strictEqual(yield* outcome(exchange(code)), "InvalidCode")
      assert.strictEqual(yield* outcome(exchange(yield* grant(), challenge)), "InvalidCode")
      assert.strictEqual(yield* count("sessions"), 0)
      assert.lengthOf(
        (yield* entries("system")).filter(({ action }) => action === "auth.verify_failed"),
        2
      )
    }).pipe(onDatabase())
  )

  it.effect("has a code that lasts one minute", () =>
    Effect.gen(function* () {
      yield* at(0)
      const [first, second] = [yield* grant(), yield* grant()]
      yield* at("59999 millis")
      assert.strictEqual(yield* outcome(exchange(first)), "success")
      yield* at("1 minute")
      assert.strictEqual(yield* outcome(exchange(second)), "InvalidCode")
    }).pipe(onDatabase())
  )

  it.effect("takes no code of the other kind", () =>
    Effect.gen(function* () {
      const { device_code, user_code } = yield* begin()
      yield* decide(user_code, "approve")
      assert.strictEqual(yield* outcome(exchange(device_code)), "InvalidCode")
      assert.strictEqual(yield* outcome(poll(yield* grant())), "InvalidCode")
      assert.strictEqual(yield* outcome(poll(device_code)), "success")
    }).pipe(onDatabase())
  )

  it.each([
    "https://127.0.0.1:4000/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:0/callback",
    "http://127.0.0.1:99999/callback",
    "http://127.0.0.2:4000/callback",
    "http://localhost:4000/callback",
    "http://127.0.0.1:4000@evil.example/callback",
    "http://127.0.0.1.evil.example:4000/",
    "http://[::1]:4000.evil.example/",
    "http://[::2]:4000/",
    "http://127.0.0.1:4000/?x=1",
    "http://127.0.0.1:4000/#x",
    "http://127.0.0.1:4000/\nx",
    "javascript:alert(1)"
  ])("never redirects to %j", (text) => {
    assert.isFalse(Schema.is(LoopbackUri)(text))
  })

  it.each(["http://127.0.0.1:4000/callback", "http://[::1]:65535/"])("may redirect to %s", (text) => {
    assert.isTrue(Schema.is(LoopbackUri)(text))
  })
})
