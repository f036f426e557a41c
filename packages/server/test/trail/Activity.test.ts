import { AuditActivity } from "@coffer/domain/audit/AuditActivity"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import type { ActivityRequest } from "@coffer/server/edges/trail/Activity"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { onDamaged, onEverything } from "../model/Support.js"
import { activity, entriesOf, newOrganization, write } from "./Support.js"

/** Copies the newest entry of a log to later times: the log has a clock of its own. */
const append = (log: string, times: ReadonlyArray<string>, action = "secret.set", actor = "ada@example.com") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const time of times) {
      yield* sql`INSERT INTO audit_entries
        (position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, metadata, created_at, chain)
        SELECT (SELECT max(position) + 1 FROM audit_entries), ${time + action}, log,
          (SELECT max(seq) + 1 FROM audit_entries WHERE log = ${log}), org_id, actor_type, actor_id, ${actor}, ${action},
          resource_type, metadata, ${time}, chain
        FROM audit_entries WHERE log = ${log} AND seq = 1`
    }
  })

const day = "2100-03-01"

describe("the activity of a log", () => {
  it.live("has each entry in the span of its time, by action and by actor", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const other = yield* newOrganization("other")
      yield* append(other.id, [`${day}T05:00:00.000Z`])
      yield* append(acme.id, [`${day}T00:00:00.000Z`, `${day}T00:59:59.999Z`, `${day}T01:00:00.000Z`])
      yield* append(acme.id, [`${day}T03:30:00.000Z`], "secret.read", "bob@example.com")
      yield* append(acme.id, ["2100-03-02T00:00:00.000Z"])
      const request = { since: day, until: `${day}T04:00:00Z`, spans: 4 }
      assert.deepStrictEqual(yield* activity(acme, request), {
        since: `${day}T00:00:00.000Z`,
        seconds: 3_600,
        complete: true,
        entries: 4,
        counts: [2, 1, 0, 1],
        actions: [
          { name: "secret.set", entries: 3, counts: [2, 1, 0, 0] },
          { name: "secret.read", entries: 1, counts: [0, 0, 0, 1] }
        ],
        actors: [
          { name: "ada@example.com", entries: 3, counts: [2, 1, 0, 0] },
          { name: "bob@example.com", entries: 1, counts: [0, 0, 0, 1] }
        ]
      })
      for (const [spans, seconds, counts] of [
        [1, 21_600, 1],
        [96, 300, 48],
        [200, 120, 120]
      ]) {
        const found = yield* activity(acme, { ...request, spans: spans ?? 1 })
        assert.deepStrictEqual([found.seconds, found.counts.length, found.entries], [seconds, counts, 4])
      }
    }).pipe(onDamaged)
  )

  it.live("begins with the first entry and ends now, and counts all entries", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      for (let n = 0; n < 30; n++) yield* write(acme.id, { n, actor: n % 3 === 0 ? "bob" : "ada" })
      const entries = yield* entriesOf(acme.id)
      const found = yield* activity(acme)
      assert.strictEqual(found.entries, entries.length)
      assert.isAtMost(Date.parse(found.since), Date.parse(entries[0]?.created_at ?? ""))
      assert.isAtMost(found.counts.length, 48)
      assert.strictEqual(found.actors.find(({ name }) => name === "bob@example.com")?.entries, 10)
      assert.deepStrictEqual(
        found.counts.map((_, span) => found.actions.reduce((sum, { counts }) => sum + (counts[span] ?? 0), 0)),
        found.counts
      )
    }).pipe(onEverything)
  )

  it.live("takes any times: no time is an error, and no time makes more spans than wanted", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      for (const [since, until] of [
        ["0000-01-01", "9999-12-31"],
        ["2100-01-01", "2000-01-01"],
        ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
      ] as const) {
        for (const spans of [1, 7, 200]) {
          const found = yield* activity(acme, { since, until, spans })
          yield* Schema.encode(AuditActivity)(found)
          assert.isAtMost(found.counts.length, spans)
          assert.isAtLeast(found.counts.length, 1)
        }
      }
    }).pipe(onEverything)
  )

  it.live("leaves out the oldest entries of a very long log, and says so", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const sql = yield* SqlClient.SqlClient
      yield* append(acme.id, [`${day}T00:00:00.000Z`])
      // A log of another length than its entries: numbers are what is counted down from.
      yield* sql`INSERT INTO audit_entries
        (position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, metadata, created_at, chain)
        SELECT (SELECT max(position) + 1 FROM audit_entries), 'late', log, 150000, org_id, actor_type, actor_id, actor_name,
          action, resource_type, metadata, ${`${day}T10:00:00.000Z`}, chain
        FROM audit_entries WHERE log = ${acme.id} AND seq = 1`
      const found = yield* activity(acme, { since: day, until: "2100-03-02" })
      assert.deepStrictEqual([found.complete, found.entries, found.since], [false, 1, `${day}T10:00:00.000Z`])
    }).pipe(onDamaged)
  )

  it.live("counts only what fits the filters, in the spans of the whole log", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const [web, api] = [
        { project: "web", env: "prod" },
        { project: "api", env: "prod" }
      ]
      for (const metadata of [
        { ...web, key: "A" },
        { ...web, key: "B" },
        { ...web, keys: [{ key: "A" }, { key: "C" }] },
        api
      ]) {
        yield* write(acme.id, { metadata })
        yield* write(acme.id, { metadata, actor: "bob", action: "secret.delete" })
      }
      const counts = Effect.fnUntraced(function* (request: ActivityRequest) {
        const found = yield* activity(acme, request)
        assert.strictEqual(
          found.entries,
          found.counts.reduce((sum, count) => sum + count, 0)
        )
        return [found.entries, found.actions.length, found.actors.length]
      })
      assert.deepStrictEqual(yield* counts({ env: EnvName.make("prod") }), [8, 2, 2])
      assert.deepStrictEqual(yield* counts({ project: ProjectName.make("web") }), [6, 2, 2])
      assert.deepStrictEqual(yield* counts({ key: SecretKey.make("A") }), [4, 2, 2])
      assert.deepStrictEqual(yield* counts({ key: SecretKey.make("C"), actor: "bob@example.com" }), [1, 1, 1])
      assert.deepStrictEqual(yield* counts({ project: ProjectName.make("web"), action: "secret.set" }), [3, 1, 1])
      assert.deepStrictEqual(yield* counts({ key: SecretKey.make("A"), until: "2000-01-01" }), [0, 0, 0])
    }).pipe(onEverything)
  )

  it.live("finds few entries among many, and leaves out the oldest of too many", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const other = yield* newOrganization("other")
      const sql = yield* SqlClient.SqlClient
      const metadata = { project: "web", env: "prod", key: "A" }
      yield* write(acme.id, { metadata })
      // Adds the entry to the index.
      yield* activity(acme, { key: SecretKey.make("A") })
      const [first] = yield* sql<{ run: number; position: number }>`
        SELECT run, position FROM audit_postings WHERE position = (SELECT max(position) FROM audit_entries)
          AND run IN (SELECT k.id FROM audit_place_counters k JOIN audit_places p ON p.id = k.place WHERE p.keys = 'A')`
      const { position = 0, run = 0 } = first ?? {}
      const after = sql.literal(String(position))
      /** Copies the entry to later positions of a log, and finds each by its key. */
      const copy = (log: string, from: number, entries: number, isFound: boolean) =>
        Effect.gen(function* () {
          const numbers = sql.literal(
            `WITH RECURSIVE n (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM n WHERE n < ${from + entries - 1})`
          )
          yield* sql`INSERT INTO audit_entries
            (position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, metadata, created_at, chain)
            ${numbers} SELECT ${after} + n, 'copy ' || n, ${log}, 1000 + n, org_id, actor_type, actor_id, actor_name, action,
              resource_type, metadata, '2100-01-01T0' || (n / 20000) || ':00:00.000Z', chain
            FROM n CROSS JOIN audit_entries WHERE position = ${position}`
          if (isFound)
            yield* sql`INSERT INTO audit_postings (run, position) ${numbers} SELECT ${sql.literal(String(run))}, ${after} + n FROM n`
        })
      yield* copy(acme.id, 1, 10, true)
      yield* copy(other.id, 11, 20_000, false)
      yield* copy(acme.id, 20_011, 5_000, true)
      const request = { key: SecretKey.make("A"), until: "2100-01-02" }
      const few = yield* activity(acme, request)
      assert.deepStrictEqual([few.entries, few.complete], [5_011, true])
      yield* copy(acme.id, 25_011, 99_000, true)
      const many = yield* activity(acme, request)
      assert.isFalse(many.complete)
      assert.isAtMost(many.entries, 100_000)
      assert.isAbove(many.entries, 98_000)
      assert.isAbove(Date.parse(many.since), Date.parse("2099-12-31"))
    }).pipe(onDamaged)
  )
})
