import { LeaseId } from "@coffer/domain/base/Ids"
import { leaseOf, leasedUser } from "@coffer/server/secrets/connections/Kind"
import { Connections } from "@coffer/server/secrets/connections/Connections"
import { connectionsRepo } from "@coffer/server/secrets/connections/Repo"
import { makeOrphanLooks, Orphans } from "@coffer/server/secrets/leases/Orphans"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import type { Actor } from "@coffer/domain/access/Actor"
import { entries, outcome, setSecret } from "../support/Services.js"
import { createRole, entering, lease, removed, tried, usersIn, withLeases, world } from "./World.js"

/** A look of the job at what is due. Returns how many connections were. */
const looks = Effect.gen(function* () {
  const look = yield* makeOrphanLooks
  const due = yield* (yield* connectionsRepo).due({ limit: 10 })
  yield* Effect.forEach(due, look)
  return due.length
})

const listed = (actor: Actor) =>
  Effect.gen(function* () {
    const [found] = yield* (yield* Connections).list(yield* entering(actor, "connection.list"))
    return found?.orphans
  })

const found = Effect.map(entries(), (all) => all.filter(({ action }) => action === "orphan.found"))

describe("users that no lease has", () => {
  it("have names that carry the id of a lease, unlike other users", () => {
    const id = LeaseId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce")
    assert.strictEqual(leaseOf(leasedUser(id)), id)
    assert.strictEqual(leaseOf(`coffer_${"z".repeat(25)}`), null)
    assert.strictEqual(leaseOf("app_a"), null)
  })

  it.effect("are listed by a test of the connection, and removed with what they own when an admin says so", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      const [left, live] = [yield* lease(ada), yield* lease(ada)]
      assert.deepStrictEqual((yield* tried(ada)).orphans, [])
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM leases WHERE id = ${left.id}`
      yield* Effect.promise(() => database.query(`CREATE TABLE of_the_left (id int)`))
      yield* Effect.promise(() => database.query(`ALTER TABLE of_the_left OWNER TO ${left.username}`))
      yield* Effect.promise(() => database.query("CREATE ROLE coffer_by_hand"))
      assert.deepStrictEqual((yield* tried(ada)).orphans, [{ lease_id: left.id, username: left.username }])
      assert.strictEqual(yield* outcome(removed(ada, live.id)), "Conflict")
      yield* removed(ada, left.id)
      assert.deepStrictEqual(yield* usersIn(database), [live.username, "coffer_by_hand"])
      yield* removed(ada, left.id)
      assert.deepInclude((yield* entries()).findLast(({ action }) => action === "orphan.delete")?.metadata, {
        connection: "shop-db",
        username: left.username
      })
      assert.deepStrictEqual((yield* tried(ada)).orphans, [])
    }).pipe(Effect.provide(Orphans.Default), withLeases())
  )

  it.effect(
    "are looked for once a day, with an entry when there are more, and in an hour if there is no response",
    () =>
      Effect.gen(function* () {
        const { ada } = yield* world
        yield* createRole(ada)
        const left = yield* lease(ada)
        assert.strictEqual(yield* looks, 1)
        assert.deepStrictEqual([yield* listed(ada), (yield* found).length], [0, 0])
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM leases`
        assert.strictEqual(yield* looks, 0)
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(yield* looks, 1)
        assert.strictEqual(yield* listed(ada), 1)
        const [entry] = yield* found
        assert.deepInclude(entry?.metadata, { connection: "shop-db", count: 1, users: [left.username] })
        yield* setSecret(ada, "RENEWER", "wrong")
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(yield* looks, 1)
        assert.strictEqual(yield* listed(ada), 1)
        yield* setSecret(ada, "RENEWER", "canary-renewer-1")
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* looks, 1)
        assert.lengthOf(yield* found, 1)
        yield* removed(ada, left.id)
        assert.strictEqual(yield* looks, 1)
        assert.strictEqual(yield* listed(ada), 0)
      }).pipe(Effect.provide(Orphans.Default), withLeases())
  )
})
