import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { asActor, onDatabase, organization, orgPath, transaction } from "../support/Services.js"

const event = { action: "secret.read", resource_type: "secret", resource_id: null } as const

/** An organization whose log has a head that this process knows. */
const logOf = (name: string) =>
  Effect.gen(function* () {
    const owner = yield* organization(name)
    const { org } = yield* (yield* Access).org(orgPath(name), "webhook.list").pipe(asActor(owner))
    const audit = yield* AuditLog
    const sql = yield* SqlClient.SqlClient
    const reads = sql<{ n: number }>`
      SELECT count(*) AS n FROM audit_entries WHERE org_id = ${org.id} AND action = 'secret.read'`
    return {
      read: audit.seen({ actor: { type: "system", id: null, name: "test" }, orgId: org.id }, event),
      reads: Effect.map(reads, ([row]) => row?.n ?? 0),
      lock: sql`SELECT log FROM audit_heads WHERE log = ${org.id} FOR UPDATE`
    }
  })

/** Locks a log as a change does, until the use ends or runs what it is given. */
const whileHeld = <E, R>(
  log: Effect.Effect.Success<ReturnType<typeof logOf>>,
  use: (release: Effect.Effect<void>) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const [held, released] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
    const holder = yield* Effect.fork(
      transaction(Effect.all([log.lock, Deferred.succeed(held, undefined), Deferred.await(released)]))
    )
    yield* Deferred.await(held)
    const release = Effect.zipRight(Deferred.succeed(released, undefined), Fiber.await(holder))
    yield* Effect.ensuring(use(Effect.asVoid(release)), release)
  })

const waiting = Effect.map(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ n: number }>`
      SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  ),
  ([row]) => row?.n ?? 0
)

describe("the entries of reads on PostgreSQL", () => {
  it.live("give way to a change of their log, for a second at most, and hold back no other log's", () =>
    Effect.gen(function* () {
      const [hot, calm] = [yield* logOf("hot"), yield* logOf("calm")]
      yield* whileHeld(hot, (release) =>
        Effect.gen(function* () {
          yield* hot.read
          yield* calm.read
          yield* Effect.sleep("400 millis")
          assert.deepStrictEqual([yield* hot.reads, yield* calm.reads, yield* waiting], [0, 1, 0])
          yield* Effect.sleep("1100 millis")
          assert.strictEqual(yield* waiting, 1)
          yield* release
          yield* (yield* AuditLog).flush
          assert.deepStrictEqual([yield* hot.reads, yield* calm.reads], [1, 1])
        })
      )
    }).pipe(onDatabase())
  )

  it.live("are all written, in order, as soon as the change ends", () =>
    Effect.gen(function* () {
      const hot = yield* logOf("hot")
      const audit = yield* AuditLog
      yield* whileHeld(hot, (release) =>
        Effect.gen(function* () {
          yield* Effect.repeatN(hot.read, 449)
          yield* Effect.sleep("200 millis")
          assert.strictEqual(yield* hot.reads, 0)
          yield* release
          // Nothing else tells the worker to write them.
          yield* Effect.repeat(Effect.delay(hot.reads, "50 millis"), { until: (reads) => reads === 450, times: 200 })
          yield* audit.flush
          assert.deepStrictEqual([yield* hot.reads, yield* audit.queued], [450, 0])
        })
      )
    }).pipe(onDatabase())
  )
})
