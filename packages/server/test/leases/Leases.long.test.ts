import { leasedUser, leasedUserForm } from "@coffer/server/secrets/connections/Kind"
import { Fence } from "@coffer/server/database/jobs/Lease"
import { mostFailures, removalBackoff } from "@coffer/server/secrets/leases/LeaseEnds"
import { makeErasing } from "@coffer/server/secrets/trash/Erasing"
import { defaultSql } from "@coffer/domain/secrets/SqlTemplate"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import { Client } from "pg"
import { delegate } from "../delegations/Support.js"
import { account, entries, grant, member, outcome, setSecret } from "../support/Services.js"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import {
  admits,
  beginLease,
  createRole,
  lease,
  list,
  renew,
  revoke,
  round,
  usersIn,
  withLeases,
  world
} from "./World.js"
import { Leases } from "@coffer/server/secrets/leases/Leases"

/** Removes the environment, and gives it up. */
const removeEnvironment = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO trash (place_id, kind, org_id, project_id, name, removed_by, removed_at, restorable_until, settled, erasing)
    SELECT e.id, 'env', p.org_id, p.id, e.name, 'ada@example.com', 0, 0, 1, 1
    FROM environments e JOIN projects p ON p.id = e.project_id JOIN connections c ON c.env_id = e.id`
  yield* sql`UPDATE environments SET removed_at = '2026-01-01T00:00:00.000Z' WHERE id IN (SELECT place_id FROM trash)`
})

const valuesLeft = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT secret_id FROM secret_versions WHERE wrapped_key IS NOT NULL AND version = 1`
  return rows.length
})

describe("a lease", () => {
  it.effect("is a user of its own that logs in until its end, and is removed then with its sessions", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada, { create: [...defaultSql.postgres.create, "GRANT CREATE ON SCHEMA public TO {{name}}"] })
      const made = yield* lease(ada, { ttl: "30m" })
      assert.strictEqual(made.username, leasedUser(made.id))
      assert.match(made.username, leasedUserForm)
      assert.isTrue(yield* admits(database, made))
      const url = new URL(Redacted.value(made.url))
      assert.deepStrictEqual(
        [url.username, url.password, url.pathname, url.search],
        [made.username, Redacted.value(made.password), "/postgres", "?sslmode=verify-full"]
      )
      const client = new Client({
        ...{ host: "127.0.0.1", port: database.port, database: "postgres", user: made.username },
        ...{ password: Redacted.value(made.password), ssl: { ca: database.ca, servername: "localhost" } }
      })
      const ended = new Promise<void>((resolve) => client.on("error", () => resolve()))
      yield* Effect.promise(async () => {
        await client.connect()
        await client.query("INSERT INTO things (name) VALUES ('by a lease')")
        await client.query("CREATE TABLE pg_temp.scratch (id int)")
      })
      yield* Effect.promise(() => client.query("CREATE TABLE owned (id int)"))

      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [made.username], "nothing is due before its end")
      yield* TestClock.adjust("30 minutes")
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
      assert.isFalse(yield* admits(database, made))
      yield* Effect.promise(() => ended)
      const owner = yield* Effect.promise(() =>
        database.query("SELECT tableowner FROM pg_tables WHERE tablename = 'owned'")
      )
      assert.deepStrictEqual(owner, [{ tableowner: "renewer" }])
      assert.deepStrictEqual(yield* list(ada), [])

      const log = (yield* entries()).filter(({ action }) => action.startsWith("lease."))
      assert.deepStrictEqual(
        log.map(({ action, actor, actor_type }) => [action, actor_type, actor]),
        [
          ["lease.create", "user", "ada@example.com"],
          ["lease.ended", "system", "lease app-role"]
        ]
      )
      assert.notInclude(JSON.stringify(log), Redacted.value(made.password))
    }).pipe(withLeases())
  )

  it.effect("has an end of the database's own, which a renewal moves, never beyond the most that the role allows", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada, { default_ttl: "1h", max_ttl: "2h" })
      assert.strictEqual(yield* outcome(lease(ada, { ttl: "3h" })), "ValidationError")
      const made = yield* lease(ada)
      const secondsLeft = Effect.promise(async () => {
        const [row] = await database.query(
          `SELECT extract(epoch FROM rolvaliduntil - now())::int AS left FROM pg_roles WHERE rolname = '${made.username}'`
        )
        return Number(row?.["left"])
      })
      assert.closeTo(yield* secondsLeft, 3_600, 10)
      yield* TestClock.adjust("30 minutes")
      const renewed = yield* renew(ada, made.id)
      assert.strictEqual(Date.parse(renewed.expires_at) - Date.parse(made.expires_at), 1_800_000)
      assert.closeTo(yield* secondsLeft, 3_600, 10)
      yield* TestClock.adjust("50 minutes")
      assert.strictEqual((yield* renew(ada, made.id)).expires_at, made.renewable_until)
      assert.closeTo(yield* secondsLeft, 2_400, 10)
      yield* round
      assert.isTrue(yield* admits(database, made))
      yield* TestClock.adjust("40 minutes")
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
      assert.strictEqual(yield* outcome(renew(ada, made.id)), "NotFound")
    }).pipe(withLeases())
  )

  it.effect("is its holder's alone to see, to renew and to end, but an admin ends each", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const dev = yield* member("dev@example.com", "developer")
      const other = yield* member("other@example.com", "developer")
      yield* grant(dev, "read")
      yield* grant(other, "read")
      const made = yield* lease(dev)
      assert.deepStrictEqual(yield* list(other), [])
      assert.strictEqual(yield* outcome(renew(other, made.id)), "NotFound")
      assert.strictEqual(yield* outcome(revoke(other, made.id)), "NotFound")
      assert.strictEqual(yield* outcome(renew(ada, made.id)), "NotFound")
      assert.deepInclude((yield* list(ada))[0], { id: made.id, holder: "dev@example.com", state: "live" })
      yield* revoke(ada, made.id)
      assert.deepInclude((yield* list(dev))[0], { state: "ending", ended: "revoked by ada@example.com" })
      assert.strictEqual(yield* outcome(renew(dev, made.id)), "Conflict")
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
    }).pipe(withLeases())
  )

  it.effect(
    "is for those who may read values: no rule of use, no account without values, no delegation without them",
    () =>
      Effect.gen(function* () {
        const { ada, database } = yield* world
        yield* createRole(ada)
        const dev = yield* member("dev@example.com", "developer")
        assert.strictEqual(yield* outcome(lease(dev)), "Forbidden")
        yield* grant(dev, "use")
        assert.strictEqual(yield* outcome(lease(dev)), "Forbidden")
        const blind = yield* account("blind", { reveal: false })
        yield* grant(blind, "read")
        assert.strictEqual(yield* outcome(lease(blind)), "Forbidden")
        assert.deepStrictEqual(yield* usersIn(database), [])
      }).pipe(withLeases())
  )

  it.effect("ends within a round when its holder loses the right or the credential", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const sql = yield* SqlClient.SqlClient
      const { delegate: callerOf } = yield* Authenticator
      const dev = yield* member("dev@example.com", "developer")
      yield* grant(dev, "read")
      const boss = yield* member("boss@example.com", "admin")
      const ci = yield* account("ci")
      yield* grant(ci, "read")
      yield* sql`INSERT INTO api_keys ${sql.insert({
        ...{
          id: ci.credential.type === "key" ? ci.credential.id : "",
          service_account_id: ci.id,
          token_hash: "x",
          hint: "x"
        },
        created_at: "2026-01-01T00:00:00.000Z"
      })}`
      const made = yield* delegate(dev)
      const agent = (yield* callerOf(made.id)).actor
      const stamp = "2026-01-01T00:00:00.000Z"
      const losses = [
        ["a revoked delegation", agent, () => sql`DELETE FROM delegations`],
        ["a revoked key", ci, () => sql`UPDATE api_keys SET removed_at = ${stamp}`],
        ["a revoked rule", dev, () => sql`UPDATE acl_rules SET removed_at = ${stamp} WHERE subject_id = ${dev.id}`],
        ["a removed membership", boss, () => sql`UPDATE members SET removed_at = ${stamp} WHERE user_id = ${boss.id}`]
      ] as const
      for (const [what, actor, lose] of losses) {
        const own = yield* lease(actor)
        yield* round
        assert.isTrue(yield* admits(database, own), what)
        yield* lose()
        yield* round
        assert.deepStrictEqual(yield* usersIn(database), [], what)
      }
      assert.deepStrictEqual(
        (yield* entries())
          .filter(({ action }) => action === "lease.ended")
          .map(({ metadata }) => (metadata as { reason: string }).reason),
        [
          "its delegation has ended",
          "its account, key or federation has ended",
          "its holder may not read here any more",
          "its holder may not read here any more"
        ]
      )
    }).pipe(Effect.provide(Authenticator.Default), withLeases())
  )

  it.effect("ends when its holder is disabled, and when its environment is removed", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const sql = yield* SqlClient.SqlClient
      const stamp = "2026-01-01T00:00:00.000Z"
      yield* lease(ada)
      yield* sql`UPDATE users SET disabled_at = ${stamp}`
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
      yield* sql`UPDATE users SET disabled_at = NULL`
      yield* lease(ada)
      yield* sql`UPDATE environments SET removed_at = ${stamp}`
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
    }).pipe(withLeases())
  )

  it.effect("is made once for one idempotency-key, whose repetition returns the same credential for 10 minutes", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const first = yield* lease(ada, { key: "run-1" })
      const again = yield* lease(ada, { key: "run-1" })
      assert.deepStrictEqual([again.id, again.password], [first.id, first.password])
      assert.notStrictEqual((yield* lease(ada, { key: "run-2" })).id, first.id)
      assert.lengthOf(yield* usersIn(database), 2)
      const sealed = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT name FROM wrapped_keys WHERE name LIKE 'lease/%'`
      )
      assert.lengthOf(yield* sealed, 2)
      yield* TestClock.adjust("10 minutes")
      yield* round
      assert.lengthOf(yield* sealed, 0)
      assert.notStrictEqual((yield* lease(ada, { key: "run-1" })).id, first.id)
      assert.isTrue(yield* admits(database, first))
    }).pipe(withLeases())
  )

  it.effect("is refused beyond the limits of a caller and of an environment", () =>
    Effect.gen(function* () {
      const { ada } = yield* world
      yield* createRole(ada)
      const dev = yield* member("dev@example.com", "admin")
      const first = yield* lease(ada)
      yield* lease(ada)
      assert.strictEqual(yield* outcome(lease(ada)), "LimitExceeded")
      yield* lease(dev)
      assert.strictEqual(yield* outcome(lease(dev)), "LimitExceeded")
      yield* revoke(ada, first.id)
      yield* round
      yield* lease(dev)
    }).pipe(withLeases({ SERVICE_LEASES_PER_CALLER: "2", SERVICE_LEASES_PER_ENVIRONMENT: "3" }))
  )

  it.effect("is made beside others that get rights on the same tables, and beside the end of others", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const first = yield* Effect.all(
        Array.from({ length: 4 }, () => lease(ada)),
        { concurrency: 4 }
      )
      for (const { id } of first) yield* revoke(ada, id)
      const [second] = yield* Effect.all(
        [
          Effect.all(
            Array.from({ length: 4 }, () => lease(ada)),
            { concurrency: 4 }
          ),
          round
        ],
        {
          concurrency: 2
        }
      )
      assert.sameMembers(
        yield* usersIn(database),
        second.map(({ username }) => username)
      )
      assert.deepStrictEqual(
        (yield* list(ada)).map(({ problem }) => problem),
        [null, null, null, null]
      )
    }).pipe(withLeases())
  )

  it.effect("leaves no user if it is ended while the database makes it", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const { begun, place } = yield* beginLease(ada)
      if (!("row" in begun)) return assert.fail("it was repeated")
      yield* revoke(ada, begun.row.id)
      assert.strictEqual(yield* outcome((yield* Leases).finish(place, begun)), "Conflict")
      assert.deepStrictEqual(yield* usersIn(database), [])
      yield* round
      assert.deepStrictEqual(yield* list(ada), [])
    }).pipe(withLeases())
  )

  it.effect("is tried again ever later while the database refuses its removal, until it confirms it", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const made = yield* lease(ada)
      yield* setSecret(ada, "RENEWER", "wrong")
      yield* revoke(ada, made.id)
      for (let failures = 1; failures <= 12; failures++) {
        yield* round
        assert.deepInclude((yield* list(ada))[0], {
          state: "ending",
          problem: "the database refused the login: check the connection's user and the secret with its password"
        })
        yield* round
        yield* TestClock.adjust(removalBackoff(failures))
      }
      assert.lengthOf(
        (yield* entries()).filter(({ action }) => action === "lease.failed"),
        2
      )
      yield* setSecret(ada, "RENEWER", "canary-renewer-1")
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
      assert.deepStrictEqual(yield* list(ada), [])
    }).pipe(withLeases())
  )

  it.effect("ends before the values of its removed environment are erased", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      yield* lease(ada)
      const { eraseDue } = yield* makeErasing
      yield* removeEnvironment
      yield* eraseDue(yield* Fence)
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
      assert.strictEqual(yield* valuesLeft, 1)
      yield* eraseDue(yield* Fence)
      assert.strictEqual(yield* valuesLeft, 0)
    }).pipe(withLeases())
  )

  it.effect("whose database does not respond holds an erasure up for an hour, and is left there with an entry", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const made = yield* lease(ada)
      yield* setSecret(ada, "RENEWER", "wrong")
      yield* removeEnvironment
      const { eraseDue } = yield* makeErasing
      let minutes = 0
      for (; (yield* valuesLeft) > 0; minutes++) {
        assert.isBelow(minutes, 75)
        yield* round
        yield* eraseDue(yield* Fence)
        yield* TestClock.adjust("1 minute")
      }
      assert.isAbove(minutes, 30)
      assert.deepStrictEqual(yield* usersIn(database), [made.username])
      const left = (yield* entries()).filter(({ action }) => action === "lease.left")
      assert.deepStrictEqual(
        left.map(({ metadata }) => metadata),
        [
          {
            ...{ project: "webshop", env: "prod", role: "app-role", username: made.username },
            ...{ holder: "ada@example.com", failures: 15 },
            ...{
              problem: "the database refused the login: check the connection's user and the secret with its password",
              database: `localhost:${database.port}/postgres`
            }
          }
        ]
      )
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT id FROM leases UNION ALL SELECT place_id FROM trash`, [])
      yield* round
      assert.lengthOf(
        (yield* entries()).filter(({ action }) => action === "lease.left"),
        1
      )
    }).pipe(withLeases())
  )

  it.effect("in a live environment is left in the database after about a week, when its row goes", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const made = yield* lease(ada)
      yield* revoke(ada, made.id)
      yield* setSecret(ada, "RENEWER", "wrong")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE leases SET failures = ${mostFailures({ is_erasing: 0 }) - 2}`
      yield* round
      assert.lengthOf(yield* list(ada), 1)
      yield* TestClock.adjust("10 minutes")
      yield* round
      assert.deepStrictEqual(yield* list(ada), [])
      assert.deepStrictEqual(yield* usersIn(database), [made.username])
      assert.include(
        (yield* entries()).map(({ action }) => action),
        "lease.left"
      )
    }).pipe(withLeases())
  )
})

describe("a role", () => {
  it.effect("makes and removes users by its own statements, with literals that the server quotes", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* Effect.promise(() => database.query("CREATE ROLE readers"))
      yield* Effect.promise(() => database.query("GRANT readers TO renewer WITH ADMIN OPTION"))
      const role = yield* createRole(ada, {
        create: [
          "CREATE ROLE {{name}} LOGIN PASSWORD {{password}} VALID UNTIL {{ expires }} IN ROLE readers",
          "COMMENT ON ROLE {{name}} IS 'it''s a lease; -- of a role'"
        ],
        revoke: ["DROP ROLE {{name}}"]
      })
      assert.strictEqual(role.default_ttl, "1h")
      const made = yield* lease(ada)
      assert.isTrue(yield* admits(database, made))
      yield* revoke(ada, made.id)
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
    }).pipe(withLeases())
  )

  it.effect("whose statements leave the user in the database is tried again, and says so", () =>
    Effect.gen(function* () {
      const { ada } = yield* world
      yield* createRole(ada, { revoke: ["ALTER ROLE {{name}} NOLOGIN"] })
      const made = yield* lease(ada)
      yield* revoke(ada, made.id)
      yield* round
      assert.deepInclude((yield* list(ada))[0], { problem: "the role's statements left the user in the database" })
    }).pipe(withLeases())
  )

  it.effect("is refused with statements that lack a slot, or have one where the server cannot quote it", () =>
    Effect.gen(function* () {
      const { ada } = yield* world
      const sound = "CREATE ROLE {{name}} LOGIN PASSWORD {{password}} VALID UNTIL {{expires}}"
      const refused = {
        "no password": { create: ["CREATE ROLE {{name}} VALID UNTIL {{expires}}"] },
        "no end": { create: ["CREATE ROLE {{name}} PASSWORD {{password}}"] },
        "a slot within quotes": { create: [sound, "COMMENT ON ROLE x IS '{{name}}'"] },
        "a slot within a comment": { create: [sound, "/* {{name}} */ SELECT 1"] },
        "a slot within a block": { create: [sound, "DO $do$ BEGIN PERFORM {{name}}; END $do$"] },
        "an unknown slot": { create: [sound, "SELECT {{user}}"] },
        "a quote without its end": { create: [sound, "SELECT 'x"] },
        "two statements in one": { create: [`${sound}; COMMIT`] },
        "the end of the transaction": { create: [sound, "COMMIT"] },
        "a password to revoke": { revoke: ["DROP ROLE {{name}}", "SELECT {{password}}"] },
        "nothing to revoke": { revoke: ["SELECT 1"] },
        "a span beyond the most": { default_ttl: "2h", max_ttl: "1h" }
      }
      for (const [what, request] of Object.entries(refused)) {
        assert.strictEqual(yield* outcome(createRole(ada, request)), "ValidationError", what)
      }
    }).pipe(withLeases())
  )
})
