import type { UserActor } from "@coffer/domain/access/Actor"
import { MachineName } from "@coffer/domain/directory/ClientLogin"
import { SessionId } from "@coffer/domain/base/Ids"
import { pause } from "@coffer/server/base/EventLoop"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { endedAtOnce, inSteps } from "@coffer/server/database/InSteps"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { SuperadminsLive } from "@coffer/server/directory/login/Superadmins"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { hashToken, mintToken } from "@coffer/server/keys/Token"
import { Headers } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, TestClock } from "effect"
import { countingStatements } from "../support/FailingDriver.js"
import {
  account,
  entries,
  freshPlace,
  invariantsIn,
  onDatabase,
  organization,
  outcome,
  person,
  servicesIn,
  transaction,
  uuid
} from "../support/Services.js"

const day = 24 * 60 * 60 * 1000
const born = Date.UTC(2026, 0, 1)

const startSession = (actor: UserActor, ip: string | null = null) =>
  Effect.flatMap(Sessions, ({ start }) =>
    transaction(start({ id: actor.id, ended: 0, provenAt: "2026-03-01T12:00:00.000Z" }))
  ).pipe(
    Effect.map((started) => started ?? assert.fail("no session")),
    Effect.map(({ id, token }) => ({ id, token: Redacted.value(token) })),
    Effect.provideService(RequestInfo, { id: "", ip, client: null, route: null, actor: null })
  )

/** Returns the actor that the server identifies by these request headers. */
const whoIs = (headers: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.flatMap(Authenticator, ({ identify }) => identify(Headers.fromInput(headers))),
    ({ actor }) => actor
  )

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A key of an account; the one that ends by itself was replaced, since an account has one current key. */
const apiKey = (accountId: string, expiresAt: string | null = null) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const token = Redacted.value(yield* mintToken("apiKey"))
    const row = { id: uuid(), service_account_id: accountId, token_hash: hashToken(token), hint: token.slice(-4) }
    const dates = { created_at: "1970-01-01T00:00:00.000Z", expires_at: expiresAt, replaced_at: expiresAt }
    yield* sql`INSERT INTO api_keys ${sql.insert({ ...row, ...dates })}`
    return token
  })

describe("a session", () => {
  it.effect("is its holder's, with what the database says of them now", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      const { id, token } = yield* startSession(ada)
      assert.deepStrictEqual(yield* whoIs(bearer(token)), { ...ada, sessionId: id })
      yield* (yield* SqlClient.SqlClient)`UPDATE users SET superadmin = 1`
      assert.deepInclude(yield* whoIs(bearer(token)), { superadmin: true })
    }).pipe(onDatabase())
  )

  it.effect("dies at 30 days of age exactly, used or not", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      const ada = yield* person("ada@example.com")
      const { id, token } = yield* startSession(ada)
      const actor = { ...ada, sessionId: id }
      const sessions = yield* Sessions
      for (const age of [1, 15 * day, 30 * day - 1]) {
        yield* TestClock.setTime(born + age)
        assert.strictEqual(yield* outcome(whoIs(bearer(token))), "success", `${age} ms`)
        assert.strictEqual((yield* sessions.list(actor)).length, 1)
      }
      for (const age of [30 * day, 30 * day + 1, 400 * day]) {
        yield* TestClock.setTime(born + age)
        assert.strictEqual(yield* outcome(whoIs(bearer(token))), "Unauthorized", `${age} ms`)
        assert.deepStrictEqual(yield* sessions.list(actor), [])
      }
    }).pipe(onDatabase())
  )

  it.effect("is noted as used once a minute at most", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      const { token } = yield* startSession(yield* person("ada@example.com"))
      const sql = yield* SqlClient.SqlClient
      const used = Effect.gen(function* () {
        yield* whoIs(bearer(token))
        // The use is written by another fiber.
        yield* pause(100)
        const [row] = yield* sql<{ last_used_at: string }>`SELECT last_used_at FROM sessions`
        return Date.parse(row!.last_used_at) - born
      })
      assert.strictEqual(yield* used, 0)
      yield* TestClock.setTime(born + 60_000)
      assert.strictEqual(yield* used, 0)
      yield* TestClock.setTime(born + 60_001)
      assert.strictEqual(yield* used, 60_001)
    }).pipe(onDatabase())
  )

  it.effect("is listed with what logged in and the address of the last use, at no statement more", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      const ada = yield* person("ada@example.com")
      const { endAll, list, start } = yield* Sessions
      const login = { id: ada.id, ended: 0, provenAt: null }
      const from = (ip: string, userAgent?: string) =>
        Effect.provideService(RequestInfo, { id: "", ip, client: "cli", userAgent, route: null, actor: null })
      const machine = MachineName.make("adas-laptop")
      const { count, result } = yield* countingStatements(
        /^\s*(SELECT|INSERT|UPDATE|DELETE)/,
        transaction(start(login, "token", machine)).pipe(from("192.0.2.1", "node"))
      )
      assert.strictEqual(count, 2, "the person is held, and the session inserted")
      yield* transaction(start(login, "cookie")).pipe(from("192.0.2.2", `Firefox\u001b/140.0${"x".repeat(300)}`))
      const token = Redacted.value(result?.token ?? assert.fail("no session"))
      const actor = { ...ada, sessionId: result?.id ?? SessionId.make(uuid()) }
      const known = Effect.map(list(actor), (sessions) =>
        sessions
          .map(({ current, ip_address, machine, program, user_agent }) =>
            [current, ip_address, machine, program, user_agent].join(" ")
          )
          .sort()
      )
      const browser = `false 192.0.2.2  browser Firefox/140.0${"x".repeat(243)}`
      assert.deepStrictEqual(yield* known, [browser, "true 192.0.2.1 adas-laptop cli "])

      yield* TestClock.setTime(born + 120_000)
      const use = yield* countingStatements(
        /^\s*(SELECT|INSERT|UPDATE|DELETE)/,
        Effect.zipRight(whoIs(bearer(token)).pipe(from("198.51.100.7")), pause(100))
      )
      assert.strictEqual(use.count, 3, "the session is read, and the last use of it and of the person recorded")
      assert.deepStrictEqual(yield* known, [browser, "true 198.51.100.7 adas-laptop cli "])

      yield* transaction(endAll(actor, true))
      assert.deepStrictEqual(yield* known, ["true 198.51.100.7 adas-laptop cli "])
    }).pipe(onDatabase())
  )

  it.effect("ends when its holder says so, alone or with all others, and the others' stay", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      const bob = yield* person("bob@example.com")
      const first = yield* startSession(ada, "192.0.2.1")
      const second = yield* startSession(ada)
      const third = yield* startSession(ada)
      const his = yield* startSession(bob)
      const sessions = yield* Sessions
      const actor = { ...ada, sessionId: first.id }
      const list = yield* sessions.list(actor)
      assert.deepStrictEqual(new Set(list.map(({ id }) => id)), new Set([first.id, second.id, third.id]))
      assert.deepStrictEqual(
        list.filter(({ current }) => current).map(({ id, ip_address }) => [id, ip_address]),
        [[first.id, "192.0.2.1"]]
      )

      yield* transaction(sessions.end(actor, second.id))
      assert.strictEqual(yield* outcome(whoIs(bearer(second.token))), "Unauthorized")
      for (const id of [second.id, his.id, SessionId.make(uuid())]) {
        assert.strictEqual(yield* outcome(transaction(sessions.end(actor, id))), "NotFound")
      }
      yield* transaction(sessions.logout({ ...ada, sessionId: third.id }))
      yield* transaction(sessions.logout({ ...ada, sessionId: third.id }))
      assert.strictEqual(yield* outcome(whoIs(bearer(third.token))), "Unauthorized")
      yield* startSession(ada)
      yield* transaction(sessions.endAll(actor))
      assert.strictEqual(yield* outcome(whoIs(bearer(first.token))), "Unauthorized")
      assert.strictEqual(yield* outcome(whoIs(bearer(his.token))), "success")
      assert.deepStrictEqual(
        (yield* entries("system")).map(({ action, actor: who }) => `${action} ${who}`),
        Array.from({ length: 4 }, () => "auth.logout ada@example.com")
      )
    }).pipe(onDatabase())
  )

  it.effect("ends with thousands of others some at a time, that of the request last", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      const own = yield* startSession(ada)
      const others = yield* Effect.replicateEffect(startSession(ada), 2 * endedAtOnce)
      const { endAll } = yield* Sessions
      const actor = { ...ada, sessionId: own.id }
      const left: Array<number> = []
      const step = Effect.tap(transaction(endAll(actor)), ({ hasMore }) =>
        Effect.gen(function* () {
          left.push((yield* (yield* SqlClient.SqlClient)`SELECT id FROM sessions`).length)
          assert.strictEqual(yield* outcome(whoIs(bearer(own.token))), hasMore ? "success" : "Unauthorized")
        })
      )
      yield* inSteps(step)
      assert.deepStrictEqual(left, [endedAtOnce + 1, 1, 0])
      assert.sameDeepMembers(
        (yield* entries("system")).map(({ action, resource_id }) => ({ action, resource_id })),
        [own, ...others].map(({ id }) => ({ action: "auth.logout", resource_id: id }))
      )
    }).pipe(onDatabase())
  )

  it.effect("is nothing that a service account has", () =>
    Effect.gen(function* () {
      yield* organization()
      const bot = yield* account("bot")
      const { id, token } = yield* startSession(yield* person("ada@example.com"))
      const sessions = yield* Sessions
      assert.deepStrictEqual(yield* sessions.list(bot), [])
      yield* transaction(sessions.endAll(bot))
      yield* transaction(sessions.logout(bot))
      assert.strictEqual(yield* outcome(transaction(sessions.end(bot, id))), "NotFound")
      assert.strictEqual(yield* outcome(whoIs(bearer(token))), "success")
    }).pipe(onDatabase())
  )
})

describe("a credential", () => {
  it.effect("is refused in the same words whether it is missing, misspelt, unknown or ended", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      const { token } = yield* startSession(ada)
      const unknown = Redacted.value(yield* mintToken("session"))
      const key = Redacted.value(yield* mintToken("apiKey"))
      const misspelt = token.slice(0, -1) + (token.endsWith("0") ? "1" : "0")
      const refused: Array<Readonly<Record<string, string>>> = [
        {},
        { authorization: "" },
        { authorization: "Bearer" },
        { authorization: "Bearer " },
        { authorization: token },
        { authorization: `Basic ${token}` },
        { authorization: `Bearer ${token} x` },
        { authorization: `Bearer ${token}, Bearer ${token}` },
        { cookie: `token=${token}` },
        bearer(misspelt),
        bearer(unknown),
        bearer(key),
        bearer(hashToken(token)),
        bearer("' OR 1=1 --"),
        { "x-api-key": "" },
        { "x-api-key": key },
        { "x-api-key": token },
        { "x-api-key": key, ...bearer(token) }
      ]
      const messages = yield* Effect.forEach(refused, (headers) =>
        Effect.map(Effect.flip(whoIs(headers)), (error) => `${error.code} ${error.message}`)
      )
      assert.strictEqual(new Set(messages).size, 1)
      assert.match(messages[0]!, /^UNAUTHORIZED /)
      assert.strictEqual(
        yield* outcome(whoIs({ authorization: `bearer  ${token}` })),
        "success",
        "the scheme's case is free"
      )
    }).pipe(onDatabase())
  )

  it.effect(
    "a key is its account's, until the key ends or is removed, or its account, project or organization is removed",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(born)
        yield* organization()
        const sql = yield* SqlClient.SqlClient
        const bot = yield* account("bot", { project: "webshop", reveal: false })
        const key = yield* apiKey(bot.id)
        const mortal = yield* apiKey(bot.id, new Date(born + 1_000).toISOString())
        const known = yield* whoIs({ "x-api-key": key })
        assert.strictEqual(known.type, "service_account")
        assert.deepStrictEqual({ ...known, credential: bot.credential }, bot)
        yield* TestClock.setTime(born + 999)
        assert.strictEqual(yield* outcome(whoIs({ "x-api-key": mortal })), "success")
        yield* TestClock.setTime(born + 1_000)
        assert.strictEqual(yield* outcome(whoIs({ "x-api-key": mortal })), "Unauthorized")

        yield* sql`UPDATE api_keys SET removed_at = 'now' WHERE token_hash = ${hashToken(key)}`
        const stays = yield* apiKey(bot.id)
        assert.strictEqual(yield* outcome(whoIs({ "x-api-key": key })), "Unauthorized")
        assert.strictEqual(yield* outcome(whoIs({ "x-api-key": stays })), "success")
        for (const table of ["organizations", "service_accounts", "projects"]) {
          yield* sql`UPDATE ${sql(table)} SET removed_at = 'now'`
          assert.strictEqual(yield* outcome(whoIs({ "x-api-key": stays })), "Unauthorized", table)
          yield* sql`UPDATE ${sql(table)} SET removed_at = NULL`
        }
        const restored = yield* whoIs({ "x-api-key": stays })
        assert.strictEqual(restored.type, "service_account")
        assert.deepStrictEqual({ ...restored, credential: bot.credential }, bot, "as it was, once all are back")
      }).pipe(onDatabase())
  )
})

describe("superadmins", () => {
  const superadmins = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql`SELECT email FROM users WHERE superadmin = 1 ORDER BY email`, (rows) =>
      rows.map(({ email }) => email)
    )
  )

  it.scoped("are those that the configuration lists at the start, made where they are not there, and nobody else", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const startWith = (environment: Readonly<Record<string, string>>) =>
        Effect.provide(superadmins, SuperadminsLive.pipe(Layer.provideMerge(servicesIn(place, environment))))
      yield* Effect.provide(person("ada@example.com"), servicesIn(place))
      assert.deepStrictEqual(yield* startWith({}), [])
      assert.deepStrictEqual(
        yield* startWith({ SUPERADMIN_EMAIL_0: "Ada@Example.com", SUPERADMIN_EMAIL_7: "root@example.com" }),
        ["ada@example.com", "root@example.com"]
      )
      assert.deepStrictEqual(yield* startWith({ SUPERADMIN_EMAIL_0: "root@example.com" }), ["root@example.com"])
      assert.deepStrictEqual(yield* startWith({}), [])
      yield* invariantsIn(place)
    })
  )
})
