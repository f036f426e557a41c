import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { loginTooOld, requirePasskey, requireRecentLogin } from "@coffer/server/access/caller/RecentLogin"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import type { SessionKind } from "@coffer/domain/directory/Session"
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import { SqlClient } from "@effect/sql"
import { loggedIn, onDatabase, outcome, person, transaction } from "../support/Services.js"

const minute = 60_000
const hour = 60 * minute
const born = Date.parse("2026-03-01T12:00:00.000Z")

const startSession = (address: string, kind: SessionKind) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const started = yield* transaction(sessions.start(yield* loggedIn(address), kind))
    return Redacted.value(started?.token ?? assert.fail("no session"))
  })

const own = { "x-coffer": "1", "sec-fetch-site": "same-origin", host: "localhost:7100" }

const whoIs = (headers: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.flatMap(Authenticator, ({ identify }) => identify(Headers.fromInput(headers))),
    ({ actor }) => actor
  )

const byCookie = (token: string, more: Readonly<Record<string, string>> = {}) =>
  whoIs({ ...own, cookie: `coffer=${token}`, ...more })

const isRecent = (token: string) =>
  Effect.map(byCookie(token), (actor) => (actor.type === "user" ? actor.loginIsRecent : undefined))

describe("a browser's session", () => {
  it.effect("ends after 12 hours without a request, and after 30 days in any case", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      /** Whether a session that was last used `used` milliseconds after its start is alive `age` milliseconds after it. */
      const isAlive = (age: number, used = 0) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(born)
          yield* sql`DELETE FROM sessions`
          const token = yield* startSession("ada@example.com", "cookie")
          yield* sql`UPDATE sessions SET last_used_at = ${new Date(born + used).toISOString()}`
          yield* TestClock.setTime(born + age)
          return (yield* outcome(byCookie(token))) === "success"
        })
      assert.isTrue(yield* isAlive(12 * hour - 1))
      assert.isFalse(yield* isAlive(12 * hour))
      assert.isTrue(yield* isAlive(13 * hour, hour + 1))
      assert.isFalse(yield* isAlive(13 * hour, hour))
      const month = 30 * 24 * hour
      assert.isTrue(yield* isAlive(month - 1, month - hour))
      assert.isFalse(yield* isAlive(month, month - hour))
    }).pipe(onDatabase())
  )

  it.effect("is not listed once it has expired, and a session with a token never idles out", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      const ada = yield* person("ada@example.com")
      yield* startSession("ada@example.com", "cookie")
      const token = yield* startSession("ada@example.com", "token")
      const sessions = yield* Sessions
      assert.strictEqual((yield* sessions.list(ada)).length, 2)
      yield* TestClock.setTime(born + 12 * hour)
      assert.strictEqual((yield* sessions.list(ada)).length, 1)
      assert.strictEqual(yield* outcome(whoIs({ authorization: `Bearer ${token}` })), "success")
    }).pipe(onDatabase())
  )

  it.effect("travels only in the cookie, and the token of another session only in the header", () =>
    Effect.gen(function* () {
      const cookie = yield* startSession("ada@example.com", "cookie")
      const token = yield* startSession("ada@example.com", "token")
      assert.strictEqual(yield* outcome(byCookie(cookie)), "success")
      assert.strictEqual(yield* outcome(whoIs({ authorization: `Bearer ${cookie}` })), "Unauthorized")
      assert.strictEqual(yield* outcome(byCookie(token)), "Unauthorized")
    }).pipe(onDatabase())
  )

  it.effect("has a recent login for 15 minutes; the session of a program keeps one, if it began with a proof", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      const cookie = yield* startSession("ada@example.com", "cookie")
      const token = yield* startSession("ada@example.com", "token")
      yield* TestClock.setTime(born + 15 * minute - 1)
      assert.isTrue(yield* isRecent(cookie))
      yield* TestClock.setTime(born + 15 * minute)
      assert.isFalse(yield* isRecent(cookie))
      const actor = yield* whoIs({ authorization: `Bearer ${token}` })
      assert.isTrue(actor.type === "user" && actor.loginIsRecent)
      const sessions = yield* Sessions
      const person = { ...(yield* loggedIn("ada@example.com")), provenAt: null }
      for (const kind of ["cookie", "token"] as const) {
        const started = yield* transaction(sessions.start(person, kind))
        const unproven = Redacted.value(started?.token ?? assert.fail("no session"))
        const found = yield* kind === "cookie" ? byCookie(unproven) : whoIs({ authorization: `Bearer ${unproven}` })
        assert.isFalse(found.type === "user" && found.loginIsRecent, kind)
      }
    }).pipe(onDatabase())
  )
})

describe("a proof of who the person is", () => {
  /**
   * Rights of the session's calls: `login` allows what needs a recent login, `recovery` the removal of a passkey, `passkey`
   * what requires one.
   */
  const table = `
    no passkey  login     cookie  login recovery
    no passkey  login     token   login recovery
    no passkey  login     old cookie
    no passkey  login     old token   login
    passkey     login     cookie  recovery
    passkey     login     token   recovery
    passkey     login     old token
    passkey     passkey   cookie  login recovery passkey
    passkey     passkey   token   login recovery passkey
    passkey     passkey   old cookie
    passkey     passkey   old token   login
    passkey     operator  token   login recovery
    passkey     operator  old token   login`

  it.effect("is the passkey of those who have one, for as long as that of a login", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ada = yield* person("ada@example.com")
      const row = /^(no passkey|passkey) +(login|passkey|operator) +(old )?(cookie|token) *(.*)$/
      for (const line of table.trim().split("\n")) {
        const [, has, by, old, kind, expected] = row.exec(line.trim()) ?? assert.fail(line)
        yield* TestClock.setTime(born)
        yield* sql`DELETE FROM passkeys`
        if (has === "passkey") {
          yield* sql`INSERT INTO passkeys ${sql.insert({
            ...{ id: "1", user_id: ada.id, name: "laptop", credential_id: "AAAA", public_key: new Uint8Array(1) },
            ...{ counter: 0, transports: "[]", created_at: new Date(born).toISOString() }
          })}`
        }
        const token = yield* startSession("ada@example.com", kind === "token" ? "token" : "cookie")
        yield* sql`UPDATE sessions SET proven_by = ${by ?? ""}`
        yield* TestClock.setTime(born + (old === undefined ? 15 * minute - 1 : 15 * minute))
        const actor = yield* kind === "token" ? whoIs({ authorization: `Bearer ${token}` }) : byCookie(token)
        if (actor.type !== "user") return assert.fail("not a person")
        const required = yield* outcome(requirePasskey(actor))
        assert.strictEqual(
          [
            actor.loginIsRecent ? ["login"] : [],
            actor.mayRecover ? ["recovery"] : [],
            required === "success" ? ["passkey"] : []
          ]
            .flat()
            .join(" "),
          expected,
          line
        )
        if (required !== "success")
          assert.strictEqual(required, has === "passkey" ? "Reauthenticate" : "Forbidden", line)
      }
    }).pipe(onDatabase())
  )
})

describe("a refusal for want of a proof", () => {
  const minutes = /from the last 15 minutes/
  /** Of a session that is a day old: what it says of each proof. */
  const rows = [
    ["no passkey", "cookie", minutes, minutes],
    ["no passkey", "token", /^log in again first \(coffer login\), then retry: .*began without a proof/, minutes],
    ["passkey", "cookie", minutes, minutes],
    ["passkey", "token", /^verify with your passkey first \(coffer reauthenticate\), then retry$/, minutes]
  ] as const

  it.effect("says first what to do, and from when a proof counts in that kind of session", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      for (const [has, sessionKind, ofSession, ofNow] of rows) {
        const stale = { ...ada, sessionKind, hasPasskey: has === "passkey", loginIsRecent: false, mayRecover: false }
        assert.match((yield* Effect.flip(requireRecentLogin(stale))).message, ofSession)
        for (const proof of ["now", "recovery"] as const) assert.match(loginTooOld(stale, proof).message, ofNow)
        if (stale.hasPasskey) assert.match((yield* Effect.flip(requirePasskey(stale))).message, ofNow)
        if (sessionKind === "cookie") assert.notMatch(loginTooOld(stale).message, /coffer/)
      }
      assert.match(loginTooOld({ ...ada, hasPasskey: true }, "recovery").message, /or log in again if you lost it/)
    }).pipe(onDatabase())
  )
})

describe("the cookie of a browser", () => {
  const table: ReadonlyArray<readonly [outcome: "counts" | "does not", Readonly<Record<string, string>>, string]> = [
    ["counts", {}, "a script of the server's own page"],
    ["does not", { "x-coffer": "" }, "a form of the same site, which has no X-Coffer"],
    ["does not", { "x-coffer": "0" }, "another X-Coffer"],
    ["does not", { "sec-fetch-site": "cross-site" }, "another site"],
    ["does not", { "sec-fetch-site": "same-site" }, "another port or subdomain"],
    ["does not", { "sec-fetch-site": "none" }, "an address that was typed"],
    ["does not", { "sec-fetch-site": "cross-site", origin: "https://coffer.example.com" }, "a forged Origin"],
    ["does not", { origin: "https://app.example.com" }, "an origin that CORS lets in"],
    ["counts", { origin: "https://coffer.example.com" }, "the server's own origin"]
  ]

  it.effect("counts only for a script of the server's own pages", () =>
    Effect.gen(function* () {
      const token = yield* startSession("ada@example.com", "cookie")
      const secure = { cookie: `__Host-coffer=${token}` }
      for (const [expected, headers, why] of table) {
        const found = yield* outcome(whoIs({ ...own, ...secure, ...headers }))
        assert.strictEqual(found, expected === "counts" ? "success" : "Unauthorized", why)
      }
      const { "sec-fetch-site": _, ...silent } = own
      const older = { ...silent, ...secure }
      assert.strictEqual(yield* outcome(whoIs(older)), "Unauthorized", "neither Sec-Fetch-Site nor Origin")
      assert.strictEqual(yield* outcome(whoIs({ ...older, origin: "https://coffer.example.com" })), "success")
      assert.strictEqual(yield* outcome(whoIs({ ...older, origin: "https://evil.example.com" })), "Unauthorized")
      assert.strictEqual(yield* outcome(whoIs({ ...older, origin: "null" })), "Unauthorized")
      const twice = `__Host-coffer=${token}; __Host-coffer=${token}`
      assert.strictEqual(yield* outcome(whoIs({ ...own, cookie: twice })), "Unauthorized")
    }).pipe(
      onDatabase({
        SERVICE_PUBLIC_URL: "https://coffer.example.com",
        CORS_ALLOWED_ORIGINS: "https://app.example.com"
      })
    )
  )
})
