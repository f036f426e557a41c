import { AuditActivity } from "@coffer/domain/audit/AuditActivity"
import { Access } from "@coffer/server/access/Access"
import { Activity, type ActivityRequest } from "@coffer/server/edges/trail/Activity"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { onDamaged, onEverything } from "../model/Support.js"
import { orgPath } from "../support/Services.js"
import { by, entriesOf, type Log, newOrganization, write } from "./Support.js"

const activity = ({ actor, name }: Log, request: ActivityRequest = {}) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(name), "audit.read").pipe(by(actor))
    return yield* (yield* Activity).ofOrganization(place, request)
  }).pipe(Effect.provide(Activity.Default))

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
})
