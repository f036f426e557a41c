import { genesis } from "@coffer/server/audit/Chain"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { assert, describe, it } from "@effect/vitest"
import type Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { onDamagedFile, onFile } from "../model/Support.js"
import { logged } from "../support/Logged.js"
import { outcome, raw } from "../support/Services.js"
import { entriesOf, list, newOrganization, verify, verifyAll, write } from "../trail/Support.js"

const length = 6

/** A log of some entries, open to whoever can write the file. */
const scene = Effect.gen(function* () {
  const acme = yield* newOrganization("acme")
  for (let n = 2; n <= length; n++) yield* write(acme.id, { n })
  const db = yield* raw
  db.exec("DROP TRIGGER audit_entries_no_update; DROP TRIGGER audit_entries_no_delete")
  return { acme, db }
})

type Damage = (db: Sqlite.Database, log: string) => unknown

const cut: Damage = (db, log) => db.prepare("DELETE FROM audit_entries WHERE log = ? AND seq > 3").run(log)

/** The head row of a log as its entries now end, which anybody can compute, with a MAC that only the server can. */
const setBack =
  (mac: string): Damage =>
  (db, log) => {
    cut(db, log)
    db.prepare(
      `UPDATE audit_heads SET mac = ?, (seq, chain, created_at) =
        (SELECT seq, chain, created_at FROM audit_entries e WHERE e.log = audit_heads.log ORDER BY seq DESC LIMIT 1)
        WHERE log = ?`
    ).run(mac, log)
  }

const damages: Readonly<Record<string, readonly [damage: Damage, last: number]>> = {
  "the newest entries cut, and the head row set back without a MAC": [setBack(""), 3],
  "the newest entries cut, and the head row set back with a made-up MAC": [setBack("f".repeat(64)), 3],
  "the newest entries cut, and the head row set back with its old MAC": [
    (db, log) => {
      const mac = db.prepare<[string], string>("SELECT mac FROM audit_heads WHERE log = ?").pluck().get(log)!
      setBack(mac)(db, log)
    },
    3
  ],
  "the newest entries cut": [cut, 3],
  "the head row removed": [(db, log) => db.prepare("DELETE FROM audit_heads WHERE log = ?").run(log), length],
  "the newest entries cut and the head row removed": [
    (db, log) => {
      cut(db, log)
      db.prepare("DELETE FROM audit_heads WHERE log = ?").run(log)
    },
    3
  ],
  "every entry removed but the head": [(db, log) => db.prepare("DELETE FROM audit_entries WHERE log = ?").run(log), 0],
  "the newest entry's link changed": [
    (db, log) =>
      db.prepare("UPDATE audit_entries SET chain = ? WHERE log = ? AND seq = ?").run("e".repeat(64), log, length),
    length
  ],
  "an entry added behind the head": [
    (db, log) =>
      db
        .prepare(
          `INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
            resource_id, ip_address, metadata, created_at, chain) SELECT id, log, seq + 1, org_id, actor_type, actor_id,
            actor_name, action, resource_type, resource_id, ip_address, metadata, created_at, chain
          FROM audit_entries WHERE log = ? AND seq = ?`
        )
        .run(log, length),
    length + 1
  ]
}

describe("a log that does not end where its head says", () => {
  for (const [what, [damage, last]] of Object.entries(damages)) {
    it.live(`is found by verify and by the next write: ${what}`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const { acme, db } = yield* scene
        const { ready } = yield* AuditLog
        damage(db, acme.id)
        const found = db.prepare("SELECT log, seq, chain, created_at, mac FROM audit_heads WHERE log = ?").get(acme.id)
        assert.isFalse((yield* verify(acme)).valid, "before the next write")
        assert.strictEqual(yield* outcome(ready), "success")

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
      }).pipe(onDamagedFile, Effect.provide(layer))
    })
  }

  it.live("cannot be made whole again: a break entry that is changed, moved or removed does not fit", () =>
    Effect.gen(function* () {
      const { acme, db } = yield* scene
      setBack("")(db, acme.id)
      yield* write(acme.id, { n: 100 })
      const broken = { valid: false, first_invalid_seq: 4 }
      assert.deepInclude(yield* verify(acme), broken)
      for (const statement of [
        `UPDATE audit_entries SET action = 'secret.set' WHERE action = 'audit.break'`,
        `UPDATE audit_entries SET metadata = '{}' WHERE action = 'audit.break'`,
        `UPDATE audit_entries SET chain = '${genesis}' WHERE action = 'audit.break'`,
        `DELETE FROM audit_entries WHERE action = 'audit.break'`
      ]) {
        db.exec(`BEGIN; ${statement}; COMMIT`)
        assert.deepInclude(yield* verify(acme), broken, statement)
      }
    }).pipe(onDamagedFile)
  )

  it.live("is one log: the others go on without a break", () =>
    Effect.gen(function* () {
      const { acme, db } = yield* scene
      yield* write(null)
      setBack("")(db, acme.id)
      yield* write(null)
      yield* write(acme.id)
      assert.deepInclude(yield* verifyAll(), { valid: true, entries: 2 })
      assert.isFalse((yield* verify(acme)).valid)
    }).pipe(onDamagedFile)
  )
})

describe("a log that nobody changed", () => {
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
    }).pipe(onFile)
  )
})
