import { AuditLog } from "@coffer/server/audit/AuditLog"
import type { AuditSource } from "@coffer/server/audit/AuditEvent"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { onDatabase, transaction } from "../support/Services.js"

const system: AuditSource = { actor: { type: "system", id: null, name: "test" }, orgId: null }
const event = { action: "backup.create", resource_type: "backup", resource_id: null } as const

const stored = Effect.map(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ n: number }>`SELECT count(*) AS n FROM audit_entries`),
  ([row]) => row!.n
)

/** Keeps every other transaction waiting until the effect that it yields is run. */
const holding = Effect.gen(function* () {
  const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const writer = yield* Effect.fork(
    transaction(Effect.zipRight(Deferred.succeed(held, undefined), Deferred.await(release)))
  )
  yield* Deferred.await(held)
  return Effect.zipRight(Deferred.succeed(release, undefined), Fiber.join(writer))
})

const settle = Effect.repeatN(Effect.yieldNow(), 200)

describe("a flush of the audit queue", () => {
  it.effect("waits for the one under way: when it ends, what was queued before it is committed", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const release = yield* holding
      yield* Effect.repeatN(audit.seen(system, event), 9)
      const first = yield* Effect.fork(audit.flush)
      yield* settle
      assert.strictEqual(yield* audit.queued, 0, "the first has taken all of it")
      const second = yield* Effect.fork(audit.flush)
      yield* settle
      assert.isNull(second.unsafePoll())
      yield* release
      yield* Fiber.join(second)
      assert.strictEqual(yield* stored, 10)
      yield* Fiber.join(first)
    }).pipe(onDatabase())
  )

  it.effect("ends while others write: what is queued after it began is left to the next", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const release = yield* holding
      yield* Effect.repeatN(audit.seen(system, event), 9)
      const flush = yield* Effect.fork(audit.flush)
      yield* settle
      yield* Effect.repeatN(audit.seen(system, event), 4)
      yield* release
      yield* Fiber.join(flush)
      assert.deepStrictEqual([yield* stored, yield* audit.queued], [10, 5])
      yield* audit.flush
      assert.deepStrictEqual([yield* stored, yield* audit.queued], [15, 0])
    }).pipe(onDatabase())
  )

  it.effect("cannot be interrupted while it waits: what it took from the queue is written", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const release = yield* holding
      yield* Effect.repeatN(audit.seen(system, event), 249)
      const flush = yield* Effect.fork(audit.flush)
      yield* settle
      yield* Fiber.interruptFork(flush)
      yield* release
      yield* Fiber.await(flush)
      assert.deepStrictEqual([yield* stored, yield* audit.queued], [250, 0], "all batches, not the first alone")
    }).pipe(onDatabase())
  )
})
