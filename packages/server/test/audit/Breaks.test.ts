import { genesis } from "@coffer/server/audit/Chain"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { SqlClient, type SqlError } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { everythingIn, onDamaged, onEverything } from "../model/Support.js"
import { logged } from "../support/Logged.js"
import { closing, openToChanges } from "../support/Refusing.js"
import { freshPlace, isOnPostgres, outcome } from "../support/Services.js"
import { entriesOf, list, newOrganization, verify, verifyAll, write } from "../trail/Support.js"

const length = 6

/** A log of some entries, open to whoever can write the database. */
const scene = Effect.gen(function* () {
  const acme = yield* newOrganization("acme")
  for (let n = 2; n <= length; n++) yield* write(acme.id, { n })
  yield* openToChanges
  return { acme, sql: yield* SqlClient.SqlClient }
})

type Damage = (sql: SqlClient.SqlClient, log: string) => Effect.Effect<unknown, SqlError.SqlError>

const cut: Damage = (sql, log) => sql`DELETE FROM audit_entries WHERE log = ${log} AND seq > 3`

const behead: Damage = (sql, log) => sql`DELETE FROM audit_heads WHERE log = ${log}`

/** The head row of a log as its entries now end, which anybody can compute, with a MAC that only the server can. */
const setBack =
  (mac: string): Damage =>
  (sql, log) =>
    Effect.zipRight(
      cut(sql, log),
      sql`UPDATE audit_heads SET mac = ${mac}, (seq, chain, created_at) =
        (SELECT seq, chain, created_at FROM audit_entries e WHERE e.log = audit_heads.log ORDER BY seq DESC LIMIT 1)
        WHERE log = ${log}`
    )

const macOf = (sql: SqlClient.SqlClient, log: string) =>
  Effect.map(sql<{ mac: string }>`SELECT mac FROM audit_heads WHERE log = ${log}`, ([head]) => head!.mac)

const damages: Readonly<Record<string, readonly [damage: Damage, last: number]>> = {
  "the newest entries cut, and the head row set back without a MAC": [setBack(""), 3],
  "the newest entries cut, and the head row set back with a made-up MAC": [setBack("f".repeat(64)), 3],
  "the newest entries cut, and the head row set back with its old MAC": [
    (sql, log) => Effect.flatMap(macOf(sql, log), (mac) => setBack(mac)(sql, log)),
    3
  ],
  "the newest entries cut": [cut, 3],
  "the head row removed": [behead, length],
  "the newest entries cut and the head row removed": [
    (sql, log) => Effect.zipRight(cut(sql, log), behead(sql, log)),
    3
  ],
  "every entry removed but the head": [(sql, log) => sql`DELETE FROM audit_entries WHERE log = ${log}`, 0],
  "every entry and the head row removed": [
    (sql, log) => Effect.zipRight(sql`DELETE FROM audit_entries WHERE log = ${log}`, behead(sql, log)),
    0
  ],
  "the newest entry's link changed": [
    (sql, log) => sql`UPDATE audit_entries SET chain = ${"e".repeat(64)} WHERE log = ${log} AND seq = ${length}`,
    length
  ],
  "an entry added behind the head": [
    (sql, log) =>
      sql`INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
          resource_id, ip_address, metadata, created_at, chain) SELECT id, log, seq + 1, org_id, actor_type, actor_id,
          actor_name, action, resource_type, resource_id, ip_address, metadata, created_at, chain
        FROM audit_entries WHERE log = ${log} AND seq = ${length}`,
    length + 1
  ]
}

describe("a log that does not end where its head says", () => {
  for (const [what, [damage, last]] of Object.entries(damages)) {
    it.live(`is found by verify and by the next write: ${what}`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const { acme, sql } = yield* scene
        const { ready } = yield* AuditLog
        yield* damage(sql, acme.id)
        const [found] = yield* sql`SELECT log, seq, chain, created_at, mac FROM audit_heads WHERE log = ${acme.id}`
        assert.isFalse((yield* verify(acme)).valid, "before the next write")
        // Readiness sees what is missing; that a head or an entry is not the server's own, only the next write and verify do.
        assert.strictEqual(yield* outcome(ready), /set back|added/.test(what) ? "success" : "NotReady")

        yield* write(acme.id, { n: 100 })
        const added = (yield* entriesOf(acme.id)).slice(-2)
        assert.deepStrictEqual(
          added.map(({ action, seq }) => [seq, action]),
          [
            [last + 1, "audit.break"],
            [last + 2, "secret.set"]
          ]
        )
        assert.deepStrictEqual((JSON.parse(added[0]!.metadata) as { head: unknown }).head, found ?? null, "as it was")
        assert.strictEqual(lines.filter((line) => /^ERROR the audit log of/.test(line)).length, 1)
        assert.strictEqual(yield* outcome(ready), "NotReady")
        const first = yield* verify(acme)
        assert.isFalse(first.valid)
        assert.isAtMost(first.first_invalid_seq!, last + 1)

        // The new segment is as good as any log, and what was found is told for ever.
        for (let n = 0; n < 3; n++) yield* write(acme.id, { n })
        assert.deepInclude(yield* verify(acme), { valid: false, first_invalid_seq: first.first_invalid_seq })
        assert.deepInclude(yield* verify(acme, { from_seq: last + 2 }), { valid: true, entries: 4 })
        assert.strictEqual((yield* list(acme, { action: "audit.break" })).pagination.total, 1)
        assert.strictEqual(lines.filter((line) => /^ERROR the audit log of/.test(line)).length, 1)
      }).pipe(onDamaged, Effect.provide(layer))
    })
  }

  it.live("cannot be made whole again: a changed, moved or removed break entry does not fit", () =>
    Effect.gen(function* () {
      const { acme, sql } = yield* scene
      yield* setBack("")(sql, acme.id)
      yield* write(acme.id, { n: 100 })
      const broken = { valid: false, first_invalid_seq: 4 }
      assert.deepInclude(yield* verify(acme), broken)
      for (const statement of [
        `UPDATE audit_entries SET action = 'secret.set' WHERE action = 'audit.break'`,
        `UPDATE audit_entries SET metadata = '{}' WHERE action = 'audit.break'`,
        `UPDATE audit_entries SET chain = '${genesis}' WHERE action = 'audit.break'`,
        `DELETE FROM audit_entries WHERE action = 'audit.break'`
      ]) {
        yield* sql.unsafe(statement)
        assert.deepInclude(yield* verify(acme), broken, statement)
      }
    }).pipe(onDamaged)
  )

  it.live("is named by the log of the server, if the whole log is gone", () =>
    Effect.gen(function* () {
      const { acme, sql } = yield* scene
      const other = yield* newOrganization("other")
      assert.notProperty(yield* verifyAll(), "missing")
      for (const { id } of [acme, other]) {
        yield* sql`DELETE FROM audit_entries WHERE log = ${id}`
        yield* behead(sql, id)
      }
      assert.deepInclude(yield* verifyAll(), { valid: false, missing: [acme.id, other.id].sort() })
      assert.deepInclude(yield* verifyAll({}, acme.id), { valid: false, first_invalid_seq: 1 })
      yield* write(acme.id)
      assert.deepInclude(yield* verifyAll(), { valid: false, missing: [other.id] })
      assert.deepInclude(yield* verifyAll({}, acme.id), { valid: false, first_invalid_seq: 1 })
    }).pipe(onDamaged)
  )

  it.live("is missed by a server that starts after the whole log was removed, and by its first entry", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const onServer = <A, E, R>(test: Effect.Effect<A, E, R>) =>
        Effect.provide(Effect.scoped(test), everythingIn(place))
      const acme = yield* onServer(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const close = yield* closing
          const { acme } = yield* scene
          yield* sql`DELETE FROM audit_entries WHERE log = ${acme.id}`
          yield* behead(sql, acme.id)
          yield* close
          return acme
        })
      )
      const broken = { valid: false, first_invalid_seq: 1 }
      yield* onServer(
        Effect.gen(function* () {
          assert.deepInclude(yield* verify(acme), broken)
          assert.deepInclude(yield* verifyAll(), { valid: false, missing: [acme.id] })
          yield* write(acme.id)
          assert.deepStrictEqual(
            (yield* entriesOf(acme.id)).map(({ action }) => action),
            ["audit.break", "secret.set"]
          )
        })
      )
      yield* onServer(Effect.map(verify(acme), (found) => assert.deepInclude(found, broken)))
    }).pipe(Effect.scoped)
  )

  it.live("is one log: the others go on without a break", () =>
    Effect.gen(function* () {
      const { acme, sql } = yield* scene
      yield* write(null)
      yield* setBack("")(sql, acme.id)
      yield* write(null)
      yield* write(acme.id)
      assert.deepInclude(yield* verifyAll(), { valid: true, entries: 2 })
      assert.isFalse((yield* verify(acme)).valid)
    }).pipe(onDamaged)
  )
})

describe("a log that nobody changed", () => {
  it.live.skipIf(isOnPostgres())("has no break if its first entry could not be written", () =>
    Effect.gen(function* () {
      yield* openToChanges
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(
        "CREATE TRIGGER refused BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'refused'); END"
      )
      const acme = yield* newOrganization("acme")
      assert.deepInclude(yield* verify(acme), { valid: false, entries: 0 }, "it is missing")
      yield* sql.unsafe("DROP TRIGGER refused")
      yield* write(acme.id)
      assert.deepInclude(yield* verify(acme), { valid: true, entries: 1 })
      assert.strictEqual(yield* outcome((yield* AuditLog).ready), "success")
    }).pipe(onDamaged)
  )

  it.live("has no break, however it is written", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => n),
        (n) => write(n % 3 === 0 ? null : acme.id, { n }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* list(acme, { action: "audit.break" })).pagination.total, 0)
      assert.isTrue((yield* verify(acme)).valid)
      assert.strictEqual(yield* outcome((yield* AuditLog).ready), "success")
    }).pipe(onEverything)
  )
})
