import { Database } from "@coffer/server/database/Database"
import { timestamp } from "@coffer/server/base/Time"
import { pause } from "@coffer/server/base/EventLoop"
import { ClockCheckLive } from "@coffer/server/database/jobs/ClockCheck"
import { HeartbeatLive, liveInstances, takeEnded } from "@coffer/server/database/jobs/Heartbeat"
import { Replica, Version } from "@coffer/server/database/jobs/Replica"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope, TestClock } from "effect"
import { Client } from "pg"
import { logged } from "../support/Logged.js"
import { freshDatabase, serverUrl } from "../support/postgres/Databases.js"
import { PostgresStatements } from "../support/postgres/Statements.js"
import { onDatabase } from "../support/Services.js"

/** Starts one more server. Returns how to end it in order. */
const start = (version: string) =>
  Effect.gen(function* () {
    const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
    yield* Layer.buildWithScope(Layer.fresh(HeartbeatLive), scope).pipe(Effect.provideService(Version, version))
    return { end: Scope.close(scope, Exit.void) } as const
  })

const versions = Effect.map(liveInstances, (found) => found.map(({ version }) => version).sort())

/** Makes every heartbeat older by some seconds, as if its server had not written since. */
const age = (seconds: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { clock } = yield* Database
    yield* sql`UPDATE instances SET seen_at = ${timestamp((yield* clock) - seconds * 1000)}`
  })

describe("the heartbeat", () => {
  it.effect("tells of each server while it runs, and until 30 seconds after its death", () =>
    Effect.gen(function* () {
      const one = yield* start("1.0.0")
      yield* TestClock.adjust("1 milli")
      yield* start("1.1.0")
      assert.strictEqual((yield* liveInstances)[0]?.pid, process.pid)
      assert.deepStrictEqual(yield* versions, ["1.0.0", "1.1.0"])
      yield* age(29)
      assert.lengthOf(yield* versions, 2)
      yield* age(31)
      assert.lengthOf(yield* versions, 0)
      yield* TestClock.adjust("10 seconds")
      while ((yield* versions).length < 2) yield* pause(20)
      yield* one.end
      assert.deepStrictEqual(yield* versions, ["1.1.0"])
    }).pipe(Effect.scoped, onDatabase())
  )

  it.effect(
    "of a server that died is taken once: after 30 seconds if it has no session, and after a day in any case",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { transaction } = yield* Database
        const take = yield* takeEnded
        const taken = Effect.map(transaction(take), (ended) => ended.map(({ version }) => version))
        yield* start("1.0.0")
        yield* start("0.3.0")
        yield* sql`UPDATE instances SET schema = 1 WHERE version = '0.3.0'`
        yield* age(29)
        assert.deepStrictEqual(yield* taken, [])
        yield* age(31)
        assert.deepStrictEqual(yield* taken, ["1.0.0"])
        assert.deepStrictEqual(yield* taken, [])
        // The sessions of an older release have no name of their own, so it may be paused.
        yield* age(24 * 60 * 60 + 1)
        assert.deepStrictEqual(yield* taken, ["0.3.0"])
      }).pipe(Effect.scoped, Effect.provide(Replica.Default), onDatabase())
  )

  it.effect("of a server that has a session is not taken, however silent it is: it may be paused", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { transaction } = yield* Database
      const take = yield* takeEnded
      yield* start("1.0.0")
      const [row] = yield* sql<{ id: string; name: string }>`SELECT id, current_database() AS name FROM instances`
      yield* age(31)
      const session = new Client({ connectionString: `${serverUrl()}/${row?.name}` })
      yield* Effect.promise(async () => {
        await session.connect()
        await session.query(`SET application_name = 'coffer-server ${row?.id}'`)
      })
      assert.lengthOf(yield* transaction(take), 0)
      yield* Effect.promise(() => session.end())
      // The database learns of the end a moment later.
      yield* Effect.repeat(transaction(take), { until: ({ length }) => length === 1 })
    }).pipe(Effect.scoped, Effect.provide(Replica.Default), onDatabase())
  )
})

describe("the clock of a server", () => {
  const warnings = (setting: (theirs: number) => Effect.Effect<void>) => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const { clock } = yield* Database
      yield* setting(yield* clock)
      yield* Layer.build(ClockCheckLive)
      return lines.join("\n")
    }).pipe(
      Effect.provide(layer),
      (test) => Effect.flatMap(freshDatabase(), ({ url }) => Effect.provide(test, PostgresStatements(url, "shared"))),
      Effect.scoped
    )
  }

  it.effect("is warned of, with both times, when it is an hour off", () =>
    Effect.gen(function* () {
      const said = yield* warnings((theirs) => TestClock.setTime(theirs - 3_600_000))
      assert.match(
        said,
        /^WARN the clocks differ by 3600\.\d seconds: this server's says \d{4}-\S+Z, the database's \d{4}-\S+Z, /
      )
    })
  )

  it.effect("is not warned of when it is right within two seconds", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* warnings((theirs) => TestClock.setTime(theirs + 1_000)), "")
    })
  )
})
