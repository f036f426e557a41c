import { type Actor, Authentication } from "@coffer/domain/access/Actor"
import {
  ApiKeyId,
  DelegationId,
  FederationId,
  RequestId,
  RotationId,
  ScimTokenId,
  SessionId
} from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { AuthenticationLive, Authenticator, keysIn } from "@coffer/server/access/caller/Authenticator"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { hashToken, mintToken, type TokenKind } from "@coffer/server/keys/Token"
import { Headers, HttpRouter, HttpServerRequest } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import { newSession } from "../support/NewSession.js"
import { account, entries, enter, onDatabase, organization, person, uuid } from "../support/Services.js"

const minute = 60_000
const hour = 60 * minute
const born = Date.parse("2026-03-01T12:00:00.000Z")
const text = (millis: number) => new Date(millis).toISOString()

const newToken = (kind: TokenKind) => Effect.map(mintToken(kind), Redacted.value)

/** A key of an account, and what its holders sign in with: tokens, and the ids of their rows. */
const credentialsOf = (accountId: string, orgId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const key = { id: uuid(), token: yield* newToken("apiKey") }
    const dates = { created_at: text(born), expires_at: text(born + hour) }
    yield* sql`INSERT INTO api_keys ${sql.insert({
      ...{ id: key.id, service_account_id: accountId, token_hash: hashToken(key.token), hint: "abcd" },
      ...{ created_at: text(born), expires_at: text(born + 2 * hour), replaced_at: text(born) }
    })}`
    const keySession = { id: uuid(), token: yield* newToken("keySession") }
    yield* sql`INSERT INTO key_sessions ${sql.insert({
      ...{ id: keySession.id, key_id: key.id, token_hash: hashToken(keySession.token) },
      ...dates
    })}`
    const federation = uuid()
    yield* sql`INSERT INTO federations ${sql.insert({
      ...{
        id: federation,
        service_account_id: accountId,
        org_id: orgId,
        name: "github",
        issuer: "https://issuer.test"
      },
      ...{ audience: "coffer", conditions: "{}", max_age: 3_600, ttl: 3_600 },
      ...{ created_by: "ada@example.com", created_at: text(born) }
    })}`
    const federated = { id: uuid(), token: yield* newToken("federated") }
    yield* sql`INSERT INTO federated_sessions ${sql.insert({
      ...{ id: federated.id, federation_id: federation, service_account_id: accountId, subject: "repo" },
      ...{ token_hash: hashToken(federated.token), ...dates }
    })}`
    return { key, keySession, federation, federated }
  })

/** A session of a person, by its token. */
const sessionOf = (userId: string, kind: "token" | "cookie", proof: { at: string | null; by?: "login" | "passkey" }) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = uuid()
    const token = yield* newToken("session")
    yield* sql`INSERT INTO sessions ${sql.insert({
      ...{
        id,
        user_id: userId,
        kind,
        token_hash: hashToken(token),
        proven_at: proof.at,
        proven_by: proof.by ?? "login"
      },
      ...{ created_at: text(born), last_used_at: text(born) }
    })}`
    return { id, token }
  })

const delegationOf = (userId: string, orgId: string, envId: string, keys: string | null, reveal = 1) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = uuid()
    const token = yield* newToken("delegation")
    yield* sql`INSERT INTO delegations ${sql.insert({
      ...{ id, user_id: userId, org_id: orgId, env_id: envId, name: "claude", token_hash: hashToken(token) },
      ...{ permission: "read", reveal, keys, created_at: born, expires_at: born + hour }
    })}`
    return { id, token }
  })

const scene = Effect.gen(function* () {
  yield* TestClock.setTime(born)
  const ada = yield* organization()
  const bot = yield* account("bot", { project: "webshop" })
  const { env, org, project } = yield* enter(ada, "secret.list")
  const credentials = yield* credentialsOf(bot.id, bot.orgId)
  const { delegate, identify, identifyAccount, identifyKey, identifyToken, revalidate } = yield* Authenticator
  const calls = { delegate, identify, identifyAccount, identifyKey, identifyToken, revalidate }
  return { ada, bot, credentials, env, org, project, ...calls }
})

const from = (ip: string | null) =>
  Effect.provideService(RequestInfo, RequestInfo.of({ id: "", ip, client: null, route: null, actor: null }))

/** How a call ends: the actor, or the message of the refusal. */
const said = <A extends Actor, E extends { readonly message: string }, R>(
  effect: Effect.Effect<{ readonly actor: A }, E, R>
): Effect.Effect<A | string, never, R> =>
  Effect.match(effect, { onSuccess: ({ actor }): A | string => actor, onFailure: ({ message }) => message }).pipe(
    from("203.0.113.7")
  )

const refused = "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key"
const noDelegation =
  "this delegation is unknown, has ended or was revoked: ask its person for another one (coffer delegate)"
const bearer = (token: string) => Headers.fromInput({ authorization: `Bearer ${token}` })

describe("the keys of a delegation", () => {
  it("are the texts of a list that are names of keys", () => {
    assert.isNull(keysIn(null))
    assert.deepStrictEqual<unknown>([...(keysIn(`["A","B_1"]`) ?? [])].map(String), ["A", "B_1"])
    assert.deepStrictEqual<unknown>([...(keysIn(`["A",3,null,"not a key!"]`) ?? [])].map(String), ["A"])
    for (const other of [`"A"`, `{"A":1}`, "null", "3"]) assert.strictEqual(keysIn(other)?.size, 0, other)
  })
})

describe("the credential of a request", () => {
  it.effect("is a key first, then a bearer token by its form, then a cookie", () =>
    Effect.gen(function* () {
      const { ada, bot, credentials, env, identify, org } = yield* scene
      const { federated, federation, key, keySession } = credentials
      const session = yield* sessionOf(ada.id, "token", { at: null })
      const browser = yield* sessionOf(ada.id, "cookie", { at: null })
      const delegation = yield* delegationOf(ada.id, org.id, env.id, null)
      const byKey = { ...bot, credential: { type: "key", id: ApiKeyId.make(key.id), sessionId: null } }
      const byFederation = {
        ...bot,
        credential: {
          ...{ type: "federation", federation: FederationId.make(federation), name: "github" },
          sessionId: SessionId.make(federated.id)
        }
      }
      const unproven = { ...ada, loginIsRecent: false, mayRecover: false, passkeyIsRecent: false, hasPasskey: false }
      const byToken = { ...unproven, sessionId: SessionId.make(session.id), sessionKind: "token" }
      const byCookie = { ...unproven, sessionId: SessionId.make(browser.id), sessionKind: "cookie" }
      const cookie = { host: "localhost:7100", "x-coffer": "1", "sec-fetch-site": "same-origin" }
      const withCookie = { ...cookie, cookie: `coffer=${browser.token}` }
      const authorization = `Bearer ${session.token}`
      for (const [headers, expected] of [
        [{ "x-api-key": key.token }, byKey],
        [{ "x-api-key": key.token, authorization, ...withCookie }, byKey],
        [{ "x-api-key": "nonsense", authorization, ...withCookie }, refused],
        [{ authorization }, byToken],
        [{ authorization, ...withCookie }, byToken],
        [{ authorization: `bearer  ${session.token}` }, byToken],
        [{ authorization: `Basic ${session.token}` }, refused],
        [{ authorization: `x Bearer ${session.token}` }, refused],
        [{ authorization: `Bearer ${session.token} x` }, refused],
        [{ authorization: "", ...withCookie }, refused],
        [{ authorization: `Bearer ${federated.token}` }, byFederation],
        [{ authorization: `Bearer ${key.token}` }, refused],
        [{ authorization: `Bearer ${keySession.token}` }, refused],
        [{ authorization: `Bearer ${browser.token}` }, refused],
        [{ ...cookie, cookie: `coffer=${session.token}` }, refused],
        [withCookie, byCookie],
        [cookie, refused],
        [{}, refused]
      ] as const) {
        assert.deepStrictEqual<unknown>(
          yield* said(identify(Headers.fromInput(headers))),
          expected,
          JSON.stringify(headers)
        )
      }
      const agent = yield* said(identify(bearer(delegation.token)))
      assert.deepInclude(agent, { id: ada.id, sessionId: null, sessionKind: null, superadmin: false })
    }).pipe(onDatabase())
  )

  it.effect("of an account is its key, or the token of a session of the key or of a federation", () =>
    Effect.gen(function* () {
      const { ada, bot, credentials, env, identifyAccount, identifyKey, identifyToken, org } = yield* scene
      const { federated, key, keySession } = credentials
      const delegation = yield* delegationOf(ada.id, org.id, env.id, null)
      const ofSession = {
        ...bot,
        credential: { type: "key", id: ApiKeyId.make(key.id), sessionId: SessionId.make(keySession.id) }
      }
      const idOf = (found: Actor | string) => (typeof found === "string" ? found : found.id)
      assert.deepStrictEqual<unknown>(yield* said(identifyAccount(keySession.token)), ofSession)
      for (const [token, asKey, asAccount, asToken] of [
        [key.token, bot.id, bot.id, bot.id],
        [keySession.token, refused, bot.id, bot.id],
        [federated.token, refused, bot.id, bot.id],
        [delegation.token, refused, refused, ada.id],
        [`${delegation.token.slice(0, -1)}_`, refused, refused, noDelegation],
        [yield* newToken("delegation"), refused, refused, noDelegation],
        [yield* newToken("apiKey"), refused, refused, refused]
      ] as const) {
        assert.strictEqual(idOf(yield* said(identifyKey(token))), asKey)
        assert.strictEqual(idOf(yield* said(identifyAccount(token))), asAccount)
        assert.strictEqual(idOf(yield* said(identifyToken(token))), asToken)
      }
    }).pipe(onDatabase())
  )

  it.effect("ends with its time, and the session of a key also with the key", () =>
    Effect.gen(function* () {
      const { ada, credentials, env, identify, identifyAccount, org } = yield* scene
      const { federated, key, keySession } = credentials
      const delegation = yield* delegationOf(ada.id, org.id, env.id, null)
      const state = Effect.gen(function* () {
        const found = yield* Effect.all([
          said(identifyAccount(key.token)),
          said(identifyAccount(keySession.token)),
          said(identifyAccount(federated.token)),
          said(identify(bearer(delegation.token)))
        ])
        return found.map((one) => typeof one !== "string")
      })
      yield* TestClock.setTime(born + hour - 1)
      assert.deepStrictEqual<unknown>((yield* state).slice(0, 3), [true, true, true])
      yield* TestClock.setTime(born + hour)
      assert.deepStrictEqual<unknown>((yield* state).slice(0, 3), [true, false, false])
      yield* TestClock.setTime(born + 2 * hour)
      assert.deepStrictEqual<unknown>((yield* state).slice(0, 3), [false, false, false])
    }).pipe(onDatabase())
  )

  it.effect("fails by the contract's schemes alike, but that of a delegation says what to do", () =>
    Effect.gen(function* () {
      const { credentials } = yield* scene
      const authentication = yield* Effect.provide(Authentication, AuthenticationLive)
      const none = Redacted.make("")
      const call = (scheme: "session" | "apiKey" | "cookie", headers: Readonly<Record<string, string>>) =>
        said(
          authentication[scheme](none).pipe(
            Effect.provideService(
              HttpServerRequest.HttpServerRequest,
              HttpServerRequest.fromWeb(new Request("http://coffer.test/", { headers }))
            ),
            Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
            Effect.provideService(HttpRouter.RouteContext, {
              [HttpRouter.RouteContextTypeId]: HttpRouter.RouteContextTypeId,
              params: {},
              route: HttpRouter.makeRoute("GET", "/", Effect.dieMessage("no handler"))
            })
          )
        )
      const key = { "x-api-key": credentials.key.token }
      const lost = { authorization: `Bearer ${yield* newToken("delegation")}` }
      assert.deepInclude(yield* call("session", key), { type: "service_account" })
      assert.strictEqual(yield* call("session", lost), noDelegation)
      for (const scheme of ["apiKey", "cookie"] as const) {
        assert.strictEqual(yield* call(scheme, key), refused)
        assert.strictEqual(yield* call(scheme, lost), noDelegation)
        assert.strictEqual(yield* call(scheme, {}), refused)
        assert.strictEqual(yield* call(scheme, { authorization: "Basic svc_dt_" }), refused)
      }
    }).pipe(onDatabase())
  )
})

describe("a session", () => {
  it.effect("has the proofs of its person, by their age, their kind and its own", () =>
    Effect.gen(function* () {
      const { ada, identify } = yield* scene
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.setTime(born + hour)
      const [fresh, old] = [text(born + hour - 15 * minute + 1), text(born + hour - 15 * minute)]
      const proofs = (kind: "token" | "cookie", at: string | null, by?: "login" | "passkey") =>
        Effect.gen(function* () {
          const { token } = yield* sessionOf(ada.id, kind, { at, ...(by !== undefined && { by }) })
          const headers = { host: "localhost:7100", "x-coffer": "1", "sec-fetch-site": "same-origin" }
          const found = yield* said(
            identify(kind === "token" ? bearer(token) : Headers.fromInput({ ...headers, cookie: `coffer=${token}` }))
          )
          if (typeof found === "string" || found.type !== "user") return found
          const { hasPasskey, loginIsRecent, mayRecover, passkeyIsRecent } = found
          return [loginIsRecent, mayRecover, hasPasskey, passkeyIsRecent]
        })
      for (const [kind, at, by, expected] of [
        ["token", null, "login", [false, false, false, false]],
        ["token", fresh, "login", [true, true, false, false]],
        ["token", old, "login", [true, false, false, false]],
        ["cookie", null, "login", [false, false, false, false]],
        ["cookie", fresh, "login", [true, true, false, false]],
        ["cookie", old, "login", [false, false, false, false]]
      ] as const) {
        assert.deepStrictEqual<unknown>(yield* proofs(kind, at, by), expected, `${kind} ${at} ${by}`)
      }
      yield* sql`INSERT INTO passkeys ${sql.insert({
        ...{ id: uuid(), user_id: ada.id, name: "laptop", credential_id: "id", public_key: new Uint8Array(1) },
        ...{ counter: 0, transports: "[]", created_at: text(born) }
      })}`
      for (const [kind, at, by, expected] of [
        ["token", fresh, "login", [false, true, true, false]],
        ["token", old, "login", [false, false, true, false]],
        ["token", fresh, "passkey", [true, true, true, true]],
        ["token", old, "passkey", [true, false, true, false]],
        ["cookie", fresh, "login", [false, true, true, false]],
        ["cookie", fresh, "passkey", [true, true, true, true]],
        ["cookie", old, "passkey", [false, false, true, false]]
      ] as const) {
        assert.deepStrictEqual<unknown>(yield* proofs(kind, at, by), expected, `${kind} ${at} ${by}, with a passkey`)
      }
    }).pipe(onDatabase())
  )
})

describe("a delegation", () => {
  it.effect("acts as its person with what it was given, and has no proof and no right of the server", () =>
    Effect.gen(function* () {
      const { env, identify, org, project } = yield* scene
      const root = yield* person("root@example.com", { superadmin: true })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE users SET superadmin = 1 WHERE id = ${root.id}`
      const now = Date.now()
      yield* TestClock.setTime(now)
      const made = yield* delegationOf(root.id, org.id, env.id, `["API_KEY"]`, 0)
      yield* sql`UPDATE delegations SET created_at = ${now}, expires_at = ${now + hour}`
      const found = yield* said(identify(bearer(made.token)))
      assert.deepStrictEqual<unknown>(found, {
        ...{ type: "user", id: root.id, email: root.email, name: root.name, superadmin: false },
        ...{ sessionId: null, sessionKind: null, loginIsRecent: false, mayRecover: false },
        ...{ hasPasskey: false, passkeyIsRecent: false },
        delegation: {
          ...{ id: DelegationId.make(made.id), name: "claude", org, places: [{ project, env }] },
          ...{
            permission: "read",
            reveal: false,
            keys: new Set([SecretKey.make("API_KEY")]),
            isConnected: false,
            ofSuperadmin: true
          },
          ...{ createdAt: text(now), expiresAt: text(now + hour) }
        }
      })
    }).pipe(onDatabase())
  )
})

describe("an account bound to networks", () => {
  it.effect(
    "is refused from elsewhere as for an unknown key, by each of its credentials, now and before a change",
    () =>
      Effect.gen(function* () {
        const { bot, credentials, identifyAccount, revalidate } = yield* scene
        const sql = yield* SqlClient.SqlClient
        const actors: Array<Actor> = []
        const tokens = [credentials.key, credentials.keySession, credentials.federated].map(({ token }) => token)
        for (const token of tokens) {
          const found = yield* said(identifyAccount(token))
          if (typeof found !== "string") actors.push(found)
        }
        assert.strictEqual(actors.length, 3)
        yield* sql`UPDATE service_accounts SET allowed_networks = ${JSON.stringify(["198.51.100.0/24"])} WHERE id = ${bot.id}`
        const before = (yield* entries()).length
        for (const token of tokens) assert.strictEqual(yield* said(identifyAccount(token)), refused)
        for (const actor of actors) assert.strictEqual(yield* said(revalidate(actor)), refused)
        assert.strictEqual((yield* entries()).length, before + 6)
        yield* sql`UPDATE service_accounts SET allowed_networks = ${JSON.stringify(["203.0.113.0/24"])} WHERE id = ${bot.id}`
        for (const token of tokens) assert.isNotString(yield* said(identifyAccount(token)))
        for (const actor of actors) assert.deepStrictEqual<unknown>(yield* said(revalidate(actor)), actor)
      }).pipe(onDatabase())
  )
})

describe("the caller of a change", () => {
  it.effect("is read again by the credential's row, and refused once it is gone", () =>
    Effect.gen(function* () {
      const { ada, credentials, delegate, env, identify, identifyAccount, org, revalidate } = yield* scene
      const sql = yield* SqlClient.SqlClient
      const now = Date.now()
      yield* TestClock.setTime(now)
      for (const table of ["api_keys", "key_sessions", "federated_sessions"]) {
        yield* sql`UPDATE ${sql(table)} SET expires_at = ${text(now + hour)}`
      }
      const made = newSession(ada.id, text(now))
      const session = yield* sessionOf(ada.id, "token", { at: null })
      yield* sql`UPDATE sessions SET created_at = ${made.row.now}, last_used_at = ${made.row.now}`
      const delegation = yield* delegationOf(ada.id, org.id, env.id, null)
      yield* sql`UPDATE delegations SET created_at = ${now}, expires_at = ${now + hour}`
      for (const [table, { id }, identified, message] of [
        ["sessions", session, identify(bearer(session.token)), refused],
        ["delegations", delegation, identify(bearer(delegation.token)), noDelegation],
        ["federated_sessions", credentials.federated, identifyAccount(credentials.federated.token), refused],
        ["key_sessions", credentials.keySession, identifyAccount(credentials.keySession.token), refused],
        ["api_keys", credentials.key, identifyAccount(credentials.key.token), refused]
      ] as const) {
        const found = yield* said(identified)
        if (typeof found === "string") return assert.fail(`${table}: ${found}`)
        assert.deepStrictEqual<unknown>(yield* said(revalidate(found)), found, table)
        yield* sql`DELETE FROM ${sql(table)} WHERE id = ${id}`
        assert.strictEqual(yield* said(revalidate(found)), message, table)
      }
      assert.strictEqual(yield* said(delegate(DelegationId.make(delegation.id))), noDelegation)
      assert.strictEqual(yield* said(revalidate({ ...ada, sessionId: null })), refused)
    }).pipe(onDatabase())
  )

  it.effect("is refused for what acts without a credential: a request, a rotation, a directory", () =>
    Effect.gen(function* () {
      const { bot, revalidate } = yield* scene
      for (const credential of [
        { type: "request", id: RequestId.make(uuid()), sessionId: null },
        { type: "rotation", id: RotationId.make(uuid()), sessionId: null },
        { type: "scim", id: ScimTokenId.make(uuid()), sessionId: null }
      ] as const) {
        assert.strictEqual(yield* said(revalidate({ ...bot, credential })), refused)
      }
    }).pipe(onDatabase())
  )
})

describe("the last use of a credential", () => {
  it.effect("is recorded of its row, its person and its account", () =>
    Effect.gen(function* () {
      const { ada, bot, credentials, env, identify, identifyAccount, org } = yield* scene
      const sql = yield* SqlClient.SqlClient
      const session = yield* sessionOf(ada.id, "token", { at: null })
      const now = Date.now()
      yield* sql`UPDATE sessions SET created_at = ${text(now)}`
      const delegation = yield* delegationOf(ada.id, org.id, env.id, null)
      yield* sql`UPDATE delegations SET created_at = ${now}, expires_at = ${now + hour}`
      for (const [table, id, token] of [
        ["service_accounts", bot.id, credentials.key.token],
        ["sessions", session.id, session.token],
        ["delegations", delegation.id, delegation.token]
      ] as const) {
        yield* TestClock.setTime(table === "service_accounts" ? born + 2 * minute : now + 2 * minute)
        yield* said(table === "service_accounts" ? identifyAccount(token) : identify(bearer(token)))
        const used = sql<{ used: string | null }>`SELECT last_used_at AS used FROM ${sql(table)} WHERE id = ${id}`
        const expected = text((table === "service_accounts" ? born : now) + 2 * minute)
        yield* Effect.promise(async () => new Promise((resume) => setTimeout(resume, 150)))
        assert.strictEqual((yield* used)[0]?.used, expected, table)
      }
    }).pipe(onDatabase())
  )
})
