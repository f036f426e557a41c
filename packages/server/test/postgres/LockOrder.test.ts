import { createHash, randomBytes } from "node:crypto"
import { CodeChallenge, LoopbackUri } from "@coffer/domain/directory/ClientLogin"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Database } from "@coffer/server/database/Database"
import { retriedTransactions } from "@coffer/server/database/DatabaseMetrics"
import { Fence, fencedByNothing } from "@coffer/server/database/jobs/Lease"
import { lockStatements } from "@coffer/server/database/postgres/ScopeLocks"
import { orgScope, userScope } from "@coffer/server/database/Scopes"
import { ruleExpiry } from "@coffer/server/directory/acl/RuleExpiry"
import { ClientLogins } from "@coffer/server/directory/login/ClientLogins"
import { ClientTokens } from "@coffer/server/directory/login/ClientTokens"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { requestExpiry } from "@coffer/server/directory/requests/RequestExpiry"
import { keyNotice } from "@coffer/server/directory/service-accounts/KeyExpiry"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { dueEvents } from "@coffer/server/secrets/dues/Events"
import { environmentExpiry } from "@coffer/server/secrets/environments/EnvironmentExpiry"
import { OrgId } from "@coffer/domain/base/Ids"
import * as Headers from "@effect/platform/Headers"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, LogLevel, Metric, Option, Redacted } from "effect"
import { Client } from "pg"
import { serverUrl } from "../support/postgres/Databases.js"
import { DatabasePlace, loggedIn, onDatabase, organization, setSecret } from "../support/Services.js"

// Transactions that lock the same rows lock them in one order, or wait for none of them. Another connection holds a row here until
// they have met.

/** A connection of another program to the database of the test. */
const another = Effect.acquireRelease(
  Effect.flatMap(DatabasePlace, ({ name }) =>
    Effect.promise(async () => {
      const client = new Client({ connectionString: `${serverUrl()}/${name ?? ""}` })
      await client.connect()
      return client
    })
  ),
  (client) => Effect.promise(() => client.end())
)

const asking = Effect.map(another, (client) => ({
  client,
  ask: (text: string, values: ReadonlyArray<unknown> = []) =>
    Effect.promise(async () => (await client.query<Record<string, unknown>>(text, [...values])).rows)
}))

/** Holds what a statement locks. Returns how to let go of it. */
const held = Effect.fnUntraced(function* (text: string, values: ReadonlyArray<unknown> = []) {
  const { ask } = yield* asking
  yield* ask("BEGIN")
  yield* ask(text, values)
  return ask("ROLLBACK")
})

const until = <E, R>(condition: Effect.Effect<boolean, E, R>, millis = 3_000) =>
  condition.pipe(
    Effect.zipLeft(Effect.sleep(5)),
    Effect.repeat({ until: (isSo) => isSo }),
    Effect.timeoutOption(millis),
    Effect.map(Option.isSome)
  )

/** Waits until so many sessions wait for a lock. */
const waiting = (count: number, millis?: number) =>
  Effect.flatMap(asking, ({ ask }) =>
    until(
      Effect.map(
        ask("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"),
        (rows) => rows.length >= count
      ),
      millis
    )
  )

/** How many transactions a deadlock has repeated. */
const repeated = Effect.map(Metric.value(retriedTransactions), ({ count }) => count)

const bearer = (token: Redacted.Redacted) => Headers.fromInput({ authorization: `Bearer ${Redacted.value(token)}` })

const session = (person: Effect.Effect.Success<ReturnType<typeof loggedIn>>) =>
  Effect.gen(function* () {
    const { change } = yield* Database
    const started = yield* change([userScope(person.id)], (yield* Sessions).start(person))
    return started ?? assert.fail("no session was started")
  })

const holdUser = (id: string) => held("SELECT id FROM users WHERE id = $1 FOR UPDATE", [id])

describe("on PostgreSQL", () => {
  it.scopedLive("last uses wait for no row of another transaction, which may want the session that they have", () =>
    Effect.gen(function* () {
      const ada = yield* loggedIn("ada@example.com")
      const { id, token } = yield* session(ada)
      const { ask } = yield* asking
      yield* ask("UPDATE sessions SET last_used_at = '2020'")
      const release = yield* holdUser(ada.id)
      yield* (yield* Authenticator).identify(bearer(token))
      const used = Effect.map(ask("SELECT 1 FROM sessions WHERE id = $1 AND last_used_at > '2021'", [id]), (rows) =>
        Boolean(rows.length)
      )
      assert.isTrue(yield* until(used), "the use was recorded")
      yield* release
    }).pipe(onDatabase())
  )

  it.scopedLive("a login of a program and the end of all logins lock the person before the login", () =>
    Effect.gen(function* () {
      const ada = yield* loggedIn("ada@example.com")
      const verifier = randomBytes(32).toString("base64url")
      const code = yield* (yield* ClientLogins).grant(ada, {
        redirectUri: LoopbackUri.make("http://127.0.0.1:53682/callback"),
        challenge: CodeChallenge.make(createHash("sha256").update(verifier).digest("base64url")),
        machine: null
      })
      const { actor } = yield* (yield* Authenticator).identify(bearer((yield* session(ada)).token))
      const { change } = yield* Database
      const before = yield* repeated
      const release = yield* holdUser(ada.id)
      const ending = yield* Effect.fork(change([userScope(ada.id)], (yield* Sessions).endAll(actor)))
      assert.isTrue(yield* waiting(1), "the end of all logins waits for the person")
      const login = yield* Effect.fork(Effect.either((yield* ClientTokens).exchange(code, Redacted.make(verifier))))
      yield* waiting(2, 300)
      yield* release
      yield* Fiber.join(ending)
      yield* Fiber.join(login)
      assert.strictEqual(yield* repeated, before, "no deadlock was found")
    }).pipe(onDatabase())
  )

  it.scopedLive(
    "maintenance deletes what has ended, and leaves the rows that another transaction has to the next hour",
    () =>
      Effect.gen(function* () {
        const ada = yield* loggedIn("ada@example.com")
        const [kept, gone] = [(yield* session(ada)).id, (yield* session(ada)).id]
        const { ask } = yield* asking
        yield* ask("UPDATE sessions SET created_at = '2020'")
        const release = yield* held("SELECT id FROM sessions WHERE id = $1 FOR UPDATE", [kept])
        yield* (yield* Maintenance).sweep
        const left = (yield* ask("SELECT id FROM sessions")).map((row) => row["id"])
        assert.deepStrictEqual([left.includes(kept), left.includes(gone)], [true, false])
        yield* release
      }).pipe(Logger.withMinimumLogLevel(LogLevel.Error), Effect.provide(Maintenance.Default), onDatabase())
  )

  it.scopedLive("jobs hold the organization whose rows they change, and lock them after its changes", () =>
    Effect.gen(function* () {
      const actor = yield* organization()
      yield* setSecret(actor, "A", "one")
      const { ask } = yield* asking
      const [org] = yield* ask("SELECT id FROM organizations")
      const orgId = OrgId.make(String(org?.["id"]))
      const past = "2020-01-01T00:00:00.000Z"
      const soon = new Date(Date.now() + 86_400_000).toISOString()
      for (const made of [
        `INSERT INTO acl_rules (id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, created_by,
           created_at, updated_at, expires_at) VALUES ('r', '${orgId}', 'user', '${actor.id}', '*', '*', 'read', 'x', '', '', 1)`,
        `INSERT INTO requests (id, org_id, env_id, kind, state, actor_type, actor_id, actor_name, protection_version, needed,
           bytes, created_at, expires_at)
         SELECT '0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e', '${orgId}', id, 'access', 'pending', 'user', '${actor.id}', 'x', 0, 1, 0,
           '', 1 FROM environments LIMIT 1`,
        `INSERT INTO secret_dues (secret_id, org_id, env_id, expires_at, due_at, event_at)
         SELECT id, '${orgId}', env_id, '${past}', '${past}', '${past}' FROM secrets`,
        `INSERT INTO service_accounts (id, org_id, name, reveal, created_by, created_at, updated_at)
         VALUES ('0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e', '${orgId}', 'ci', 1, 'x', '', '')`,
        `INSERT INTO api_keys (id, service_account_id, token_hash, hint, created_at, expires_at)
         VALUES ('k', '0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e', 'h', 'h', '', '${soon}')`,
        "UPDATE environments SET expires_at = 1 WHERE name = 'staging'"
      ]) {
        yield* ask(made)
      }
      const fenced = fencedByNothing(yield* Database)
      const jobs = {
        "acl.expire": (yield* ruleExpiry).run(fenced),
        "request.expire": (yield* requestExpiry).run(fenced),
        "secret.due": yield* Effect.provideService(dueEvents, Fence, fenced),
        "service_account.expiring": (yield* keyNotice).run(fenced),
        "env.expire": (yield* environmentExpiry).run(fenced)
      }
      for (const [action, job] of Object.entries(jobs)) {
        const release = yield* held(lockStatements([orgScope(orgId)]).slice(1))
        const running = yield* Effect.fork(job)
        assert.isTrue(yield* waiting(1), `${action} waits for the changes of the organization`)
        yield* release
        yield* Fiber.join(running)
        assert.lengthOf(yield* ask("SELECT 1 FROM audit_entries WHERE action = $1", [action]), 1, action)
      }
    }).pipe(onDatabase())
  )
})
