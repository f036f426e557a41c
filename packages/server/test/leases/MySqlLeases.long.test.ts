import { LeaseId } from "@coffer/domain/base/Ids"
import { defaultSql } from "@coffer/domain/secrets/SqlTemplate"
import { leasedUser } from "@coffer/server/secrets/connections/Kind"
import { Leases } from "@coffer/server/secrets/leases/Leases"
import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { Orphans } from "@coffer/server/secrets/leases/Orphans"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import { hasMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { entries, outcome } from "../support/Services.js"
import {
  admits,
  beginLease,
  createRole,
  lease,
  list,
  mariaDbWorld,
  removed,
  renew,
  revoke,
  round,
  tried,
  usersIn,
  withLeases
} from "./World.js"

describe.skipIf(!hasMariaDb)("a lease on MariaDB (needs mariadbd)", () => {
  it.effect("is a user of its own that logs in until its end, and is removed then with its sessions", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada)
      const made = yield* lease(ada, { ttl: "30m" })
      assert.strictEqual(made.username, leasedUser(made.id))
      const url = new URL(Redacted.value(made.url))
      assert.deepStrictEqual(
        [url.protocol, url.username, url.password, url.pathname, url.search],
        ["mysql:", made.username, Redacted.value(made.password), "/shop_db", ""]
      )
      const session = yield* Effect.promise(() => database.open(made.username, Redacted.value(made.password)))
      const ended = new Promise<void>((resolve) => session.on("error", () => resolve()))
      yield* Effect.promise(() => session.query("INSERT INTO things (name) VALUES ('by a lease')"))
      const other = yield* Effect.promise(() =>
        session.query("SELECT user FROM mysql.user").then(
          () => "read",
          () => "refused"
        )
      )
      assert.strictEqual(other, "refused")
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [made.username], "nothing is due before its end")
      yield* TestClock.adjust("30 minutes")
      yield* round
      assert.deepStrictEqual(yield* usersIn(database), [])
      assert.isFalse(yield* admits(database, made))
      yield* Effect.promise(() => ended)
      assert.deepStrictEqual(yield* list(ada), [])
      for (const text of [JSON.stringify(yield* entries()), database.log]) {
        assert.notInclude(text, Redacted.value(made.password))
      }
    }).pipe(withLeases())
  )

  it.effect("has an end of the database's own in whole days, which a renewal moves", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada, { default_ttl: "20h", max_ttl: "4d" })
      const made = yield* lease(ada)
      const days = Effect.promise(async () => {
        const [row] = await database.query(`SHOW CREATE USER '${made.username}'@'%'`)
        return /PASSWORD EXPIRE INTERVAL (\d+) DAY/.exec(Object.values(row ?? {}).join())?.[1]
      })
      assert.strictEqual(yield* days, "1")
      yield* TestClock.adjust("10 hours")
      yield* renew(ada, made.id)
      assert.strictEqual(yield* days, "2")
    }).pipe(withLeases())
  )

  it.effect("gets rights on the connection's database alone, though its name is a pattern of another's", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* Effect.promise(async () => {
        await database.query("CREATE DATABASE shopXdb")
        await database.query("CREATE TABLE shopXdb.things (id INT)")
      })
      yield* createRole(ada)
      const made = yield* lease(ada)
      const session = yield* Effect.promise(() => database.open(made.username, Redacted.value(made.password)))
      const read = yield* Effect.promise(() =>
        session.query("SELECT * FROM shopXdb.things").then(
          () => "read",
          () => "refused"
        )
      )
      session.destroy()
      assert.strictEqual(read, "refused")
    }).pipe(withLeases())
  )

  it.effect("is made beside others, and beside the end of others", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada)
      const four = Effect.all(
        Array.from({ length: 4 }, () => lease(ada)),
        { concurrency: 4 }
      )
      for (const { id } of yield* four) yield* revoke(ada, id)
      const [second] = yield* Effect.all([four, round], { concurrency: 2 })
      const names = second.map(({ username }) => username)
      assert.sameMembers([...(yield* usersIn(database))], names)
    }).pipe(withLeases())
  )

  it.effect("leaves no user if it is ended while the database makes it, or a statement is refused", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada, { create: [...defaultSql.mysql.create, "GRANT SELECT ON elsewhere.* TO {{name}}"] })
      assert.strictEqual(yield* outcome(lease(ada)), "UpstreamFailed")
      assert.deepStrictEqual(yield* usersIn(database), [])
      const { begun, place } = yield* beginLease(ada)
      if (!("row" in begun)) return assert.fail("it was repeated")
      yield* revoke(ada, begun.row.id)
      assert.strictEqual(yield* outcome((yield* Leases).finish(place, begun)), "Conflict")
      assert.deepStrictEqual(yield* usersIn(database), [])
      yield* round
      assert.deepStrictEqual(yield* list(ada), [])
    }).pipe(withLeases())
  )

  it.effect("is undone if the server does not confirm it once the user exists", () =>
    Effect.gen(function* () {
      const { database } = yield* mariaDbWorld
      const target = {
        ...{ host: "localhost", address: "127.0.0.1", port: database.port, database: database.name },
        ...({ tls: "verify-full", ca: database.ca } as const),
        login: { user: "renewer", password: Redacted.make("canary-renewer-1") }
      }
      const name = leasedUser(LeaseId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce"))
      const user = { name, password: Redacted.make("canary-lease"), millis: 60_000 }
      let seen: ReadonlyArray<string> = []
      const confirm = Effect.flatMap(usersIn(database), (users) => {
        seen = users
        return Effect.fail("the row has gone")
      })
      const made = kinds.mysql.create(target, user, defaultSql.mysql.create, { isWanted: Effect.void, confirm })
      assert.strictEqual(yield* Effect.flip(made), "the row has gone")
      assert.deepStrictEqual([seen, yield* usersIn(database)], [[name], []])
    }).pipe(withLeases())
  )

  it.effect("that no row has any more is listed, and removed with its sessions when an admin says so", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada)
      const [left, live] = [yield* lease(ada), yield* lease(ada)]
      assert.deepStrictEqual((yield* tried(ada)).orphans, [])
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM leases WHERE id = ${left.id}`
      yield* Effect.promise(() => database.query("CREATE USER coffer_by_hand"))
      const session = yield* Effect.promise(() => database.open(left.username, Redacted.value(left.password)))
      const ended = new Promise<void>((resolve) => session.on("error", () => resolve()))
      assert.deepStrictEqual((yield* tried(ada)).orphans, [{ lease_id: left.id, username: left.username }])
      assert.strictEqual(yield* outcome(removed(ada, live.id)), "Conflict")
      yield* removed(ada, left.id)
      yield* Effect.promise(() => ended)
      assert.sameMembers([...(yield* usersIn(database))], [live.username, "coffer_by_hand"])
      assert.isTrue(yield* admits(database, live))
      yield* removed(ada, left.id)
      assert.deepStrictEqual((yield* tried(ada)).orphans, [])
    }).pipe(Effect.provide(Orphans.Default), withLeases())
  )

  it.effect("is not made by a user that could not see or end its sessions", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada)
      yield* Effect.promise(() => database.query("REVOKE PROCESS ON *.* FROM renewer@'%'"))
      assert.strictEqual(yield* outcome(lease(ada)), "UpstreamFailed")
      assert.deepStrictEqual(yield* usersIn(database), [])
    }).pipe(withLeases())
  )

  it.effect("takes its role's own statements, in which quotes are doubled and a backslash is a letter", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* createRole(ada, {
        create: [
          "CREATE USER {{name}} IDENTIFIED BY {{password}}",
          "INSERT INTO things (name) VALUES ('it''s \\'), ({{ expires }})",
          "GRANT SELECT ON things TO {{name}}"
        ],
        revoke: ["DROP USER {{name}}"]
      })
      const made = yield* lease(ada, { ttl: "1h" })
      assert.isTrue(yield* admits(database, made))
      const rows = yield* Effect.promise(() => database.query("SELECT name FROM shop_db.things ORDER BY id"))
      assert.strictEqual(rows[0]?.["name"], "it's \\")
      assert.match(String(rows[1]?.["name"]), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/)
      const refused = {
        "no password": ["CREATE USER {{name}}"],
        "a slot within a quote that a backslash would open": [
          "CREATE USER {{name}} IDENTIFIED BY {{password}} COMMENT 'a\\' {{name}} '"
        ],
        "a slot within backticks": [
          "CREATE USER {{name}} IDENTIFIED BY {{password}}",
          "GRANT SELECT ON `{{name}}`.* TO {{name}}"
        ],
        "two statements": ["CREATE USER {{name}} IDENTIFIED BY {{password}}; DROP USER root"]
      }
      for (const [what, create] of Object.entries(refused)) {
        assert.strictEqual(yield* outcome(createRole(ada, { create })), "ValidationError", what)
      }
    }).pipe(withLeases())
  )
})
