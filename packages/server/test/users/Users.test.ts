import type { UserActor } from "@coffer/domain/access/Actor"
import { UserId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import type { ServerPlace } from "@coffer/server/access/ServerPlace"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Database } from "@coffer/server/database/Database"
import { serverScope, userScope } from "@coffer/server/database/Scopes"
import { endedAtOnce, inSteps } from "@coffer/server/database/InSteps"
import { Login } from "@coffer/server/directory/login/Login"
import { offlineSession } from "@coffer/server/operations/offline/OfflineSession"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { SuperadminsLive } from "@coffer/server/directory/login/Superadmins"
import { Members } from "@coffer/server/directory/members/Members"
import { type UserPageRequest, UserDirectory } from "@coffer/server/directory/users/UserDirectory"
import { Headers } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import {
  asActor,
  configAt,
  email,
  entries,
  freshPath,
  isOnPostgres,
  onDatabase,
  organization,
  orgPath,
  Outbox,
  outcome,
  person,
  rawAt,
  transaction,
  uuid
} from "../support/Services.js"

const grace = email("grace@example.com")
const settings = { SUPERADMIN_EMAIL_0: "root@example.com", SUPERADMIN_EMAIL_1: "second@example.com" }

const onServer = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(
    Effect.provide(Layer.mergeAll(UserDirectory.Default, Members.Default, SuperadminsLive)),
    onDatabase(settings)
  )

const root = person("root@example.com", { superadmin: true })
const as = (actor: UserActor) =>
  Effect.flatMap(Access, (access) => access.serverPlace("user.test")).pipe(asActor(actor))

const disable = (id: UserId, by = root) =>
  Effect.flatMap(by, (actor) =>
    Effect.flatMap(as(actor), (serverPlace) =>
      Effect.flatMap(UserDirectory, (users) => inSteps(transaction(users.disable(serverPlace, id))))
    )
  ).pipe(Effect.map(({ user }) => user))
const enable = (id: UserId) =>
  Effect.flatMap(Effect.flatMap(root, as), (serverPlace) =>
    Effect.flatMap(UserDirectory, (users) => inSteps(transaction(users.enable(serverPlace, id))))
  ).pipe(Effect.map(({ user }) => user))
const endSessions = (id: UserId) =>
  Effect.flatMap(Effect.flatMap(root, as), (serverPlace) =>
    Effect.flatMap(UserDirectory, (users) => inSteps(transaction(users.endSessions(serverPlace, id))))
  ).pipe(Effect.map(({ user }) => user))
const list = (request: UserPageRequest = {}) =>
  Effect.flatMap(Effect.flatMap(root, as), (serverPlace) =>
    Effect.flatMap(UserDirectory, (users) => users.list(serverPlace, request))
  )

const request = Effect.flatMap(Login, (login) => login.request(grace))
const verify = (code: string) => Effect.flatMap(Login, (login) => login.verify(grace, Redacted.make(code)))
const lastCode = Effect.map(Outbox, (outbox) => {
  const last = outbox.at(-1)
  return last === undefined ? "none" : Redacted.value(last.code)
})
const startSession = (id: UserId, ended = 0) =>
  Effect.map(
    Effect.flatMap(Sessions, ({ start }) => transaction(start({ id, ended, provenAt: null }))),
    (started) => Redacted.value(started?.token ?? assert.fail("no session"))
  )
const isGood = (token: string) =>
  Effect.flatMap(Authenticator, ({ identify }) =>
    Effect.map(outcome(identify(Headers.fromInput({ authorization: `Bearer ${token}` }))), (how) => how === "success")
  )

/** Starts more sessions of a person than two transactions end. */
const many = (id: UserId) => Effect.replicateEffect(startSession(id), 2 * endedAtOnce + 50)
const sessionsOf = (id: UserId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql`SELECT id FROM sessions WHERE user_id = ${id}`, (rows) => rows.length)
  )
/** The entries about users. */
const told = Effect.map(entries("system"), (found) =>
  found.filter(({ action }) => action.startsWith("user.")).map(({ action, metadata }) => ({ action, metadata }))
)
const ofGrace = (action: string, counts: object = {}) => ({
  action,
  metadata: { email: grace, ...counts, via: "superadmin" }
})

describe("a disabled person", () => {
  it.effect("has no way in: sessions and codes end, and logins answer as ever and mail nothing", () =>
    Effect.gen(function* () {
      const { id } = yield* person(grace)
      const token = yield* startSession(id)
      yield* request
      const code = yield* lastCode
      assert.isTrue(yield* isGood(token))
      const disabled = yield* disable(id)
      assert.isString(disabled.disabled_at)
      assert.deepInclude(disabled, { email: grace, sessions: 0, service_accounts: [] })
      assert.isFalse(yield* isGood(token))
      assert.strictEqual(yield* outcome(verify(code)), "InvalidCode")

      const mails = (yield* Outbox).length
      assert.strictEqual(yield* outcome(request), "success", "the same answer")
      assert.strictEqual((yield* Outbox).length, mails)
      yield* Effect.repeatN(outcome(request), 5)
      assert.strictEqual(yield* outcome(request), "RateLimited", "and the same limit")
    }).pipe(onServer)
  )

  it.effect("is refused with a session or a code that came to be meanwhile", () =>
    Effect.gen(function* () {
      const { id } = yield* person(grace)
      yield* request
      const token = yield* startSession(id)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE users SET disabled_at = '2026-01-31T12:00:00.000Z' WHERE id = ${id}`
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "InvalidCode")
      assert.isFalse(yield* isGood(token))
      const start = Effect.flatMap(Sessions, (sessions) =>
        transaction(sessions.start({ id, ended: 0, provenAt: null }))
      )
      assert.isNull(yield* start)
      const last = (yield* entries("system")).at(-1)
      assert.deepInclude(last, { action: "auth.verify_failed", actor_id: id })
    }).pipe(onServer)
  )

  it.effect("may be invited and removed, and still has no way in", () =>
    Effect.gen(function* () {
      const owner = yield* organization()
      const { id } = yield* person(grace)
      yield* disable(id)
      const members = yield* Members
      const access = yield* Access
      const place = yield* access.org(orgPath(), "member.invite").pipe(asActor(owner))
      assert.deepInclude((yield* transaction(members.invite(place, grace))).member, { user_id: id })
      yield* request
      assert.deepStrictEqual(yield* Outbox, [])
    }).pipe(onServer)
  )

  it.effect("logs in again once enabled, with all memberships", () =>
    Effect.gen(function* () {
      const { id } = yield* person(grace)
      const token = yield* startSession(id)
      yield* disable(id)
      assert.deepInclude(yield* enable(id), { disabled_at: null })
      assert.isFalse(yield* isGood(token), "what ended stays ended")
      yield* request
      assert.isTrue(yield* isGood(Redacted.value(yield* verify(yield* lastCode))))
    }).pipe(onServer)
  )

  it.effect("is told of once in the log, however often it is asked", () =>
    Effect.gen(function* () {
      const { id } = yield* person(grace)
      yield* startSession(id)
      const first = yield* disable(id)
      assert.strictEqual((yield* disable(id)).disabled_at, first.disabled_at)
      yield* enable(id)
      yield* enable(id)
      yield* endSessions(id)
      const found = (yield* entries("system")).filter(({ action }) => action.startsWith("user."))
      assert.deepStrictEqual(
        found.map(({ action, actor, metadata, resource_id }) => ({ action, actor, metadata, resource_id })),
        [
          {
            action: "user.disable",
            actor: "root@example.com",
            metadata: { email: grace, sessions: 1, service_accounts: 0, via: "superadmin" },
            resource_id: id
          },
          {
            action: "user.enable",
            actor: "root@example.com",
            metadata: { email: grace, via: "superadmin" },
            resource_id: id
          },
          {
            action: "user.end_sessions",
            actor: "root@example.com",
            metadata: { email: grace, sessions: 0, via: "superadmin" },
            resource_id: id
          }
        ]
      )
    }).pipe(onServer)
  )

  it.effect("has no way in by any of many sessions, which end some at a time, also once enabled", () =>
    Effect.gen(function* () {
      const serverPlace = yield* Effect.flatMap(root, as)
      const users = yield* UserDirectory
      const { id } = yield* person(grace)
      const tokens = yield* many(id)
      assert.isTrue((yield* transaction(users.disable(serverPlace, id))).hasMore)
      assert.strictEqual(yield* sessionsOf(id), tokens.length - endedAtOnce)
      for (const token of tokens) assert.isFalse(yield* isGood(token))

      const enabling = yield* transaction(users.enable(serverPlace, id))
      assert.isTrue(enabling.hasMore, "what is left ends first")
      assert.isString(enabling.user.disabled_at)
      assert.deepInclude(yield* enable(id), { disabled_at: null, sessions: 0 })
      for (const token of tokens) assert.isFalse(yield* isGood(token))
      const token = yield* startSession(id, 1)
      yield* enable(id)
      assert.isTrue(yield* isGood(token), "who is enabled keeps the sessions since")
      assert.deepStrictEqual(yield* told, [
        ofGrace("user.disable", { sessions: endedAtOnce, service_accounts: 0 }),
        ofGrace("user.end_sessions", { sessions: endedAtOnce }),
        ofGrace("user.end_sessions", { sessions: 50 }),
        ofGrace("user.enable")
      ])
    }).pipe(onServer)
  )

  it.effect("leaves service accounts behind, which the answer lists", () =>
    Effect.gen(function* () {
      yield* organization()
      const { id } = yield* person("ada@example.com")
      const sql = yield* SqlClient.SqlClient
      const [org] = yield* sql<{ id: string }>`SELECT id FROM organizations`
      const row = { org_id: org?.id ?? "", reveal: 1, created_by: "ada@example.com", created_at: "t", updated_at: "t" }
      yield* sql`INSERT INTO service_accounts ${sql.insert([
        { ...row, id: uuid(), name: "live", removed_at: null },
        { ...row, id: uuid(), name: "gone", removed_at: "t" },
        { ...row, id: uuid(), name: "other", removed_at: null, created_by: "bob@example.com" }
      ])}`
      const { service_accounts } = yield* disable(id)
      assert.deepStrictEqual(
        service_accounts.map(({ name, org, project }): Record<string, string | null> => ({ name, org, project })),
        [{ name: "live", org: "acme", project: null }]
      )
    }).pipe(onServer)
  )

  it.scoped.skipIf(isOnPostgres())("gets no session from the operator's command, which says how to enable", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const token = yield* Effect.provide(offlineSession(grace), configAt(path))
      assert.match(Redacted.value(token), /^svc_st_/)
      const database = yield* rawAt(path)
      database.exec("UPDATE users SET disabled_at = '2026-01-31T12:00:00.000Z'")
      const error = yield* Effect.flip(Effect.provide(offlineSession(grace), configAt(path)))
      assert.match(error.message, /grace@example\.com is disabled: .*coffer user enable grace@example\.com/)
      assert.strictEqual(database.prepare("SELECT count(*) FROM sessions").pluck().get(), 1)
    })
  )
})

describe("superadmins", () => {
  it.effect("disable each other, but not themselves, nor the last one who is enabled", () =>
    Effect.gen(function* () {
      const first = yield* root
      const second = yield* person("second@example.com", { superadmin: true })
      assert.strictEqual(yield* outcome(disable(first.id)), "Conflict")
      assert.strictEqual(yield* outcome(disable(second.id)), "success")
      // The second one's request was let in before that.
      assert.strictEqual(yield* outcome(disable(first.id, Effect.succeed(second))), "Conflict")
      assert.strictEqual(yield* outcome(disable(UserId.make(uuid()))), "NotFound")
    }).pipe(onServer)
  )

  it.effect("end somebody's sessions and pending code, who logs in again at once", () =>
    Effect.gen(function* () {
      const { id } = yield* person(grace)
      const [token, other] = [yield* startSession(id), yield* startSession((yield* root).id)]
      yield* request
      assert.deepInclude(yield* endSessions(id), { sessions: 0, disabled_at: null })
      assert.deepStrictEqual([yield* isGood(token), yield* isGood(other)], [false, true])
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "InvalidCode")
      yield* request
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
    }).pipe(onServer)
  )
})

describe("many sessions of a person", () => {
  it.effect("end some at a time, each told of in the log", () =>
    Effect.gen(function* () {
      const serverPlace = yield* Effect.flatMap(root, as)
      const { id } = yield* person(grace)
      const tokens = yield* many(id)
      const users = yield* UserDirectory
      assert.isTrue((yield* transaction(users.endSessions(serverPlace, id))).hasMore)
      assert.strictEqual(yield* sessionsOf(id), tokens.length - endedAtOnce)
      assert.deepInclude(yield* endSessions(id), { sessions: 0 })
      for (const token of tokens) assert.isFalse(yield* isGood(token))
      assert.deepStrictEqual(yield* told, [
        ofGrace("user.end_sessions", { sessions: endedAtOnce }),
        ofGrace("user.end_sessions", { sessions: endedAtOnce }),
        ofGrace("user.end_sessions", { sessions: 50 })
      ])
    }).pipe(onServer)
  )
})

describe("a login at the same time as its person", () => {
  const ends = {
    "is disabled": (serverPlace: ServerPlace, id: UserId) =>
      Effect.flatMap(UserDirectory, (users) => users.disable(serverPlace, id)),
    "has all sessions ended": (serverPlace: ServerPlace, id: UserId) =>
      Effect.flatMap(UserDirectory, (users) => users.endSessions(serverPlace, id))
  }
  for (const [what, end] of Object.entries(ends)) {
    it.live(`${what} leaves no session`, () =>
      Effect.gen(function* () {
        const serverPlace = yield* Effect.flatMap(root, as)
        const { change } = yield* Database
        const { id } = yield* person(grace)
        const sql = yield* SqlClient.SqlClient
        for (const first of [0, 5, 10]) {
          yield* request
          const code = yield* lastCode
          const ending = change([serverScope, userScope(id)], end(serverPlace, id))
          const [login, ended] = yield* Effect.all(
            [
              Effect.delay(outcome(verify(code)), `${first} millis`),
              Effect.delay(outcome(ending), `${10 - first} millis`)
            ],
            { concurrency: "unbounded" }
          )
          assert.strictEqual(ended, "success")
          assert.include(["success", "InvalidCode", "Forbidden"], login)
          if (what === "is disabled") yield* enable(id)
          assert.deepStrictEqual(
            yield* sql`SELECT id FROM sessions WHERE user_id = ${id}`,
            [],
            `${login} after ${first} ms`
          )
        }
      }).pipe(onServer)
    )
  }
})

describe("the list of people", () => {
  it.effect("is by address, in pages, with what superadmins look for", () =>
    Effect.gen(function* () {
      yield* organization()
      for (const name of ["carol", "bob", "dave"]) yield* person(`${name}@example.com`)
      const { id } = yield* person(grace)
      yield* startSession(id)
      yield* startSession(id)
      const first = yield* list({ limit: 2 })
      assert.deepStrictEqual(
        first.data.map((user) => [user.email, user.organizations]),
        [
          ["ada@example.com", 1],
          ["bob@example.com", 0]
        ]
      )
      assert.isTrue(first.pagination.has_next)
      const rest = yield* list({ after: first.pagination.next_cursor ?? "" })
      assert.deepStrictEqual(
        rest.data.map((user) => [user.email, user.sessions, user.is_superadmin, user.last_seen_at === null]),
        [
          ["carol@example.com", 0, false, true],
          ["dave@example.com", 0, false, true],
          [grace, 2, false, false],
          ["root@example.com", 0, true, true],
          ["second@example.com", 0, true, true]
        ]
      )
      assert.deepStrictEqual(rest.pagination, { limit: 50, has_next: false, next_cursor: null })
      assert.strictEqual(yield* outcome(list({ after: `u${uuid()}` })), "ValidationError")
    }).pipe(onServer)
  )

  it.effect("is narrowed by the beginning of an address and by who is disabled", () =>
    Effect.gen(function* () {
      for (const name of ["ann", "anna", "Anton", "a_n"]) yield* person(`${name}@example.com`)
      const { id } = yield* person("anna@example.com")
      yield* disable(id)
      const emails = (request: UserPageRequest) =>
        Effect.map(list(request), ({ data }) => data.map(({ email }) => email.split("@")[0]))
      assert.deepStrictEqual(yield* emails({ email: "AN" }), ["ann", "anna", "anton"])
      assert.deepStrictEqual(yield* emails({ email: "a_" }), ["a_n"])
      assert.deepStrictEqual(yield* emails({ disabled: "true" }), ["anna"])
      assert.deepStrictEqual(yield* emails({ disabled: "false", email: "an" }), ["ann", "anton"])
      assert.deepStrictEqual(yield* emails({ email: "anna@example.com" }), ["anna"])
    }).pipe(onServer)
  )

  it.effect.skipIf(isOnPostgres())(
    "is read by an index whatever is asked for, so that many people cannot stall the server",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const plan = (where: string) =>
          Effect.map(
            sql.unsafe<{ detail: string }>(
              `EXPLAIN QUERY PLAN SELECT id FROM users u ${where} ORDER BY u.email LIMIT 50`
            ),
            (rows) => rows.map(({ detail }) => detail).join("; ")
          )
        for (const where of [
          "",
          "WHERE u.email > 'a'",
          "WHERE u.email >= 'a' AND u.email < 'b'",
          "WHERE u.disabled_at IS NOT NULL",
          "WHERE u.email > 'a' AND u.disabled_at IS NOT NULL"
        ]) {
          assert.match(yield* plan(where), /^(SCAN|SEARCH) u USING (COVERING )?INDEX [^;]*$/, where)
        }
      }).pipe(onServer)
  )
})
