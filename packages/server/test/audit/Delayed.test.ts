import { AuditLog } from "@coffer/server/audit/AuditLog"
import type { AuditSource } from "@coffer/server/audit/AuditEvent"
import { auditFailures } from "@coffer/server/audit/GroupAppends"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Context, Effect, Exit, Fiber, Layer, Metric, Option, Scope, TestClock } from "effect"
import { setTimeout } from "node:timers/promises"
import { statementsOf } from "../support/FailingDriver.js"
import { onDatabase } from "../support/Services.js"

const system: AuditSource = { actor: { type: "system", id: null, name: "test" }, orgId: null }
const event = { action: "backup.create", resource_type: "backup", resource_id: null } as const
const long = { ...event, metadata: { text: "x".repeat(1_000_000) } }

const stored = Effect.map(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ action: string; metadata: string }>`SELECT action, metadata FROM audit_entries ORDER BY seq`
  ),
  (rows) => rows.map(({ action, metadata }) => (action === "audit.missing" ? `${action} ${metadata}` : action))
)

/** Runs an effect while the database begins no transaction. Returns how often one was tried. */
const away = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let tries = 0
    const result = yield* statementsOf(effect, ({ text }) => {
      if (!text.startsWith("BEGIN")) return
      tries++
      throw new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR")
    })
    return { result: result.result, tries }
  })

/** Lets seconds pass, in each of which other threads and timers have their turn. */
const pass = (seconds: number) =>
  Effect.repeatN(
    Effect.zipRight(
      TestClock.adjust("1 second"),
      Effect.promise(() => setTimeout(2))
    ),
    seconds - 1
  )

const until = (count: number) =>
  stored.pipe(Effect.zipLeft(pass(1)), Effect.repeat({ until: (found) => found.length >= count, times: 200 }))

describe("entries that the database does not take", () => {
  it.effect("are tried again for as long as it is away, and are all written then, in their order", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const { tries } = yield* away(
        Effect.zipRight(
          Effect.forEach([1, 2, 3], () => audit.seen(system, event)),
          pass(40)
        )
      )
      assert.isAbove(tries, 12)
      yield* audit.seen(system, { ...event, action: "backup.restore" })
      assert.deepStrictEqual(yield* until(4), ["backup.create", "backup.create", "backup.create", "backup.restore"])
    }).pipe(onDatabase())
  )

  it.effect("are counted where there is no room, by one entry that says how many are missing", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      yield* away(Effect.repeatN(audit.seen(system, long), 20 - 1))
      const found = yield* until(17)
      assert.deepStrictEqual(found.slice(-2), ["backup.create", 'audit.missing {"entries":4}'])
      assert.strictEqual(found.length, 17)
    }).pipe(onDatabase())
  )

  it.effect("are all counted as lost if the server ends before", () =>
    Effect.gen(function* () {
      const counted = Effect.map(Metric.value(auditFailures), ({ count }) => count)
      const before = yield* counted
      yield* away(
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const audit = Context.get(yield* Layer.buildWithScope(Layer.fresh(AuditLog.Default), scope), AuditLog)
          yield* Effect.repeatN(audit.seen(system, long), 20 - 1)
          yield* Effect.repeatN(audit.seen(system, event), 500 - 1)
          const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
          yield* Effect.repeat(pass(1), { until: () => Effect.map(Fiber.poll(closing), Option.isSome), times: 2_000 })
          yield* Fiber.join(closing)
        })
      )
      assert.strictEqual((yield* counted) - before, 520)
      assert.deepStrictEqual(yield* stored, [])
    }).pipe(onDatabase())
  )
})
