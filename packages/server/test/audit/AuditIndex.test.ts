import { ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { indexRepo } from "@coffer/server/audit/IndexRepo"
import { nextTick } from "@coffer/server/base/EventLoop"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { onDamaged, onEverything } from "../model/Support.js"
import { openToChanges, refusing } from "../support/Refusing.js"
import { outcome } from "../support/Services.js"
import { list, listAll, newOrganization, verify, write } from "../trail/Support.js"

const metadata = { project: "web", env: "prod", key: "A" }
const found = { action: "secret.set", project: ProjectName.make("web"), key: SecretKey.make("A") } as const

const rowsOf = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql.unsafe<{ n: number }>(`SELECT count(*) AS n FROM ${table}`), ([row]) => row!.n)
  )

const indexRows = Effect.map(
  Effect.all([rowsOf("audit_postings"), rowsOf("audit_place_counters"), rowsOf("audit_actors")]),
  (counts) => counts.reduce((sum, count) => sum + count, 0)
)

const totalOf = Effect.fn(function* (log: Parameters<typeof list>[0]) {
  return (yield* list(log, found)).pagination.total
})

describe("the search index of an audit log", () => {
  it.effect("has nothing of an entry when it is appended, and all of it in the next search", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      yield* (yield* AuditIndex).catchUpAll
      const before = yield* indexRows
      yield* write(acme.id, { metadata }, { metadata })
      assert.strictEqual(yield* indexRows, before)
      const page = yield* list(acme, found)
      assert.deepStrictEqual([page.data.length, page.pagination.total], [2, 2])
      assert.isAbove(yield* indexRows, before)
      yield* write(acme.id, { metadata })
      assert.strictEqual((yield* listAll(found)).pagination.total, 3, "of all logs")
      yield* write(acme.id, { metadata })
      assert.isTrue((yield* verify(acme)).valid)
      assert.strictEqual(yield* (yield* AuditIndex).reached(acme.id), 5)
    }).pipe(onEverything)
  )

  it.effect("follows the log within five seconds, and at its start what an earlier server left", () =>
    Effect.gen(function* () {
      const index = yield* AuditIndex
      const acme = yield* newOrganization("acme")
      yield* write(acme.id, { metadata })
      yield* index.begin
      assert.strictEqual(yield* index.reached(acme.id), 2)
      yield* Effect.fork(index.follow)
      const followed = (seq: number) =>
        TestClock.adjust("1 second").pipe(
          Effect.zipRight(index.reached(acme.id)),
          Effect.repeat({ until: (reached) => reached === seq })
        )
      yield* write(acme.id, { metadata })
      yield* followed(3)
    }).pipe(onEverything)
  )

  it.effect("follows at once when 2,000 entries wait", () =>
    Effect.gen(function* () {
      const index = yield* AuditIndex
      const acme = yield* newOrganization("acme")
      yield* index.begin
      yield* Effect.fork(index.follow)
      yield* write(acme.id, ...Array.from({ length: 2_000 }, () => ({ metadata })))
      yield* nextTick.pipe(
        Effect.zipRight(index.reached(acme.id)),
        Effect.repeat({ until: (reached) => reached === 2_001 })
      )
    }).pipe(onEverything)
  )

  it.effect("counts each entry once, however many searches add it at once", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      for (let round = 1; round <= 5; round++) {
        yield* write(acme.id, ...Array.from({ length: 5 }, () => ({ metadata })))
        const totals = yield* Effect.all([totalOf(acme), totalOf(acme), totalOf(acme), totalOf(acme)], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(totals, [5 * round, 5 * round, 5 * round, 5 * round])
      }
    }).pipe(onEverything)
  )

  it.effect("adds more entries than a batch holds, long ones too", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      yield* write(acme.id, ...Array.from({ length: 450 }, () => ({ metadata })))
      const keys = Array.from({ length: 2_000 }, (_, index) => ({ key: `KEY_${index}_${"x".repeat(100)}` }))
      for (let n = 0; n < 3; n++) yield* write(acme.id, { metadata: { ...metadata, keys } })
      assert.strictEqual(yield* totalOf(acme), 453)
      assert.isTrue((yield* verify(acme)).valid)
    }).pipe(onEverything)
  )

  it.effect("reads a batch in short slices: sockets and timers run in between", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const happenings = Array.from({ length: 500 }, () => ({ metadata }))
      for (let n = 0; n < 4; n++) yield* write(acme.id, ...happenings)
      const repo = yield* indexRepo
      let ticks = 0
      let isOver = false
      const count = () => {
        ticks++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      const batch = yield* repo.read(acme.id, 0, 2_001, 2_000)
      isOver = true
      assert.strictEqual(batch.to, 2_000)
      // It takes 20 ms or more, and a slice one.
      assert.isAtLeast(ticks, 5)
    }).pipe(onEverything)
  )

  it.effect("that the database does not take is behind: the entry is written, and found as soon as it takes it", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const heal = yield* refusing({ table: "audit_place_counters", on: ["INSERT"] })
      yield* write(acme.id, { metadata })
      assert.strictEqual(yield* outcome(list(acme, found)), "defect")
      const whole = yield* list(acme)
      assert.deepStrictEqual([whole.data.length, whole.pagination.total], [2, 2], "the whole log needs no index")
      assert.strictEqual((yield* listAll()).pagination.total, 2)
      yield* heal
      assert.strictEqual(yield* totalOf(acme), 1)
      assert.isTrue((yield* verify(acme)).valid)
    }).pipe(onEverything)
  )

  it.effect("continues behind a break of the log", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      yield* write(acme.id, { metadata }, { metadata }, { metadata })
      assert.strictEqual(yield* totalOf(acme), 3)
      const sql = yield* SqlClient.SqlClient
      yield* openToChanges
      yield* sql`DELETE FROM audit_entries WHERE log = ${acme.id} AND seq > 1`
      yield* write(acme.id, { metadata: { ...metadata, project: "api" } })
      const after = yield* list(acme, { ...found, project: ProjectName.make("api") })
      assert.deepStrictEqual(
        after.data.map(({ metadata: { project } }) => project),
        ["api"]
      )
      assert.isFalse((yield* verify(acme)).valid)
    }).pipe(onDamaged)
  )
})
