import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { createHmac } from "node:crypto"
import type { OrgId } from "@coffer/domain/base/Ids"
import { assert, describe, it } from "@effect/vitest"
import type Sqlite from "better-sqlite3"
import { Effect, Fiber, Option } from "effect"
import fc from "fast-check"
import { hasty, holds, onDamagedFile, onEverything } from "../model/Support.js"
import { nextTick } from "@coffer/server/base/EventLoop"
import { isOnPostgres, raw } from "../support/Services.js"
import { listAll, newOrganization, verify, verifyAll, write } from "./Support.js"
import { runs } from "../../../domain/test/support/Runs.js"

const length = 8

type Database = Sqlite.Database

/** Someone with the file: drops the triggers and whatever index stands in the way. */
const opened = Effect.map(raw, (db) => {
  const triggers = db
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'audit%' AND name NOT LIKE 'audit_times%'"
    )
    .all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  db.exec("DROP INDEX audit_entries_by_seq")
  db.exec("CREATE INDEX audit_entries_by_seq ON audit_entries (log, seq)")
  return db
})

type Row = Record<string, string | number | null>

const snapshot = (db: Database) => {
  const tables = ["audit_entries", "audit_heads"]
  const rows = tables.map((table) => db.prepare<[], Row>(`SELECT * FROM ${table}`).all())
  return () => {
    tables.forEach((table, index) => {
      db.exec(`DELETE FROM ${table}`)
      for (const row of rows[index]!) {
        const names = Object.keys(row)
        db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})`).run(
          ...Object.values(row)
        )
      }
    })
  }
}

interface Logs {
  readonly log: OrgId
  readonly other: OrgId
}

/** An attack on a log, and the numbers of which `verify` has to name one; none where no number is defined. */
interface Attack {
  readonly told: string
  readonly on: (db: Database, logs: Logs) => void
  readonly bad: ReadonlyArray<number>
}

const seq = fc.integer({ min: 1, max: length })
const text = fc.constantFrom(
  "",
  "x",
  "0".repeat(64),
  "2020-01-01T00:00:00.000Z",
  "{}",
  "0192f0c1-5b7e-7c3a-9d2e-000000000000"
)

const columns = [
  ...["id", "org_id", "actor_type", "actor_id", "actor_name", "action", "resource_type", "resource_id", "ip_address"],
  ...["metadata", "created_at", "chain"]
]

const update = (db: Database, logs: Logs, n: number, column: string, value: string | number | null) =>
  db.prepare(`UPDATE audit_entries SET ${column} = ? WHERE log = ? AND seq = ?`).run(value, logs.log, n)

const setHead = (db: Database, logs: Logs, column: string, value: string | number) =>
  db.prepare(`UPDATE audit_heads SET ${column} = ? WHERE log = ?`).run(value, logs.log)

const cut = (db: Database, logs: Logs, from: number) =>
  db.prepare("DELETE FROM audit_entries WHERE log = ? AND seq >= ?").run(logs.log, from)

const shift = (db: Database, logs: Logs, from: number, by: number) =>
  db.prepare("UPDATE audit_entries SET seq = seq + ? WHERE log = ? AND seq >= ?").run(by, logs.log, from)

/** A copy of an entry, at another number and at the end of the table. */
const insert = (db: Database, logs: Logs, n: number, at: number) => {
  const names = [...columns, "log"]
  db.prepare(
    `INSERT INTO audit_entries (seq, ${names.join()}) SELECT ?, ${names.join()} FROM audit_entries WHERE log = ? AND seq = ? LIMIT 1`
  ).run(at, logs.log, n)
}

const attacks: Readonly<Record<string, fc.Arbitrary<Attack>>> = {
  edit: fc.record({ n: seq, column: fc.constantFrom(...columns), value: text }).map(({ column, n, value }) => ({
    told: `${column} of ${n} becomes "${value}"`,
    on: (db, logs) => update(db, logs, n, column, value),
    bad: [n]
  })),
  empty: fc.record({ n: seq, column: fc.constantFrom("actor_id", "resource_id", "org_id") }).map(({ column, n }) => ({
    told: `${column} of ${n} is emptied`,
    on: (db, logs) => update(db, logs, n, column, null),
    bad: [n]
  })),
  remove: seq.map((n) => ({
    told: `${n} is removed`,
    on: (db, { log }) => db.prepare("DELETE FROM audit_entries WHERE log = ? AND seq = ?").run(log, n),
    bad: [n]
  })),
  close: seq.map((n) => ({
    told: `${n} is removed and the rest moved up`,
    on: (db, logs) => {
      db.prepare("DELETE FROM audit_entries WHERE log = ? AND seq = ?").run(logs.log, n)
      shift(db, logs, n, -1)
    },
    bad: [n]
  })),
  insert: fc.tuple(seq, seq).map(([n, at]) => ({
    told: `a copy of ${n} is inserted at ${at}`,
    on: (db, logs) => {
      shift(db, logs, at, 100)
      insert(db, logs, n < at ? n : n + 100, at)
      shift(db, logs, 100, -99)
    },
    // A copy before itself is whole where it stands: what follows is not.
    bad: n === at ? [at, at + 1] : [at]
  })),
  double: seq.map((n) => ({ told: `${n} is there twice`, on: (db, logs) => insert(db, logs, n, n), bad: [n, n + 1] })),
  append: fc.tuple(seq, fc.integer({ min: 1, max: 3 })).map(([n, beyond]) => ({
    told: `a copy of ${n} is inserted ${beyond} beyond the end`,
    on: (db, logs) => insert(db, logs, n, length + beyond),
    bad: [length + 1]
  })),
  prepend: fc.tuple(seq, fc.constantFrom(0, -1, -1000)).map(([n, at]) => ({
    told: `a copy of ${n} is inserted at ${at}`,
    on: (db, logs) => insert(db, logs, n, at),
    bad: [0]
  })),
  renumber: fc.tuple(seq, fc.constantFrom(0, -7, length + 1, 3_000_000_000)).map(([n, to]) => ({
    told: `${n} is numbered ${to}`,
    on: (db, logs) => update(db, logs, n, "seq", to),
    bad: to < 1 ? [0, n] : [n]
  })),
  reorder: fc
    .tuple(seq, seq)
    .filter(([a, b]) => a < b)
    .map(([a, b]) => ({
      told: `${a} and ${b} change places`,
      on: (db, logs) => {
        update(db, logs, a, "seq", -1)
        update(db, logs, b, "seq", a)
        update(db, logs, -1, "seq", b)
      },
      bad: [a]
    })),
  position: fc
    .tuple(seq, seq)
    .filter(([a, b]) => a < b)
    .map(([a, b]) => ({
      told: `${a} and ${b} change places in the list of all logs`,
      on: (db, logs) => {
        const at = (n: number) =>
          db
            .prepare<[string, number], { position: number }>(
              "SELECT position FROM audit_entries WHERE log = ? AND seq = ?"
            )
            .get(logs.log, n)!.position
        const [first, second] = [at(a), at(b)]
        update(db, logs, a, "position", -1)
        update(db, logs, b, "position", first)
        update(db, logs, a, "position", second)
      },
      // The search index tells the first of them, unless both are alike.
      bad: [a, a + 1]
    })),
  swap: fc.tuple(seq, fc.boolean()).map(([n, whole]) => ({
    told: `${n} changes places with the other log's`,
    on: (db, { log, other }) => {
      const move = db.prepare("UPDATE audit_entries SET log = ? WHERE log = ? AND seq = ?")
      move.run("x", log, n)
      move.run(log, other, n)
      move.run(other, "x", n)
      if (whole) db.prepare("UPDATE audit_entries SET org_id = log WHERE seq = ?").run(n)
    },
    bad: [n]
  })),
  leave: seq.map((n) => ({
    told: `${n} leaves for another log`,
    on: (db, logs) => update(db, logs, n, "log", "elsewhere"),
    bad: [n]
  })),
  rechain: seq.map((from) => ({
    told: `the chain is made anew from ${from} under another key`,
    on: (db, { log }) => {
      let chain = "0".repeat(64)
      for (const row of db.prepare<[string], Row>("SELECT * FROM audit_entries WHERE log = ? ORDER BY seq").all(log)) {
        chain =
          Number(row.seq) < from
            ? String(row.chain)
            : createHmac("sha256", "guess").update(chain).update(JSON.stringify(row)).digest("hex")
        db.prepare("UPDATE audit_entries SET chain = ? WHERE position = ?").run(chain, row.position)
      }
      setHead(db, { log, other: log }, "chain", chain)
    },
    bad: [from]
  })),
  head: fc
    .oneof(
      fc.tuple(fc.constant("seq"), fc.constantFrom(-5, 0, 1, length - 1, length + 1, 3_000_000_000, 2 ** 52)),
      fc.tuple(fc.constantFrom("chain", "mac"), fc.constantFrom("", "f".repeat(64), "x")),
      fc.tuple(fc.constant("created_at"), fc.constantFrom("", "2000-01-01T00:00:00.000Z"))
    )
    .map(([column, value]) => ({
      told: `the head's ${column} becomes ${value}`,
      on: (db, logs) => setHead(db, logs, column, value),
      bad: []
    })),
  cut: seq.map((from) => ({
    told: `the tail is cut from ${from}`,
    on: (db, logs) => cut(db, logs, from),
    bad: [from]
  })),
  "cut with head": fc.integer({ min: 2, max: length }).map((from) => ({
    told: `the tail is cut from ${from} and the head moved back`,
    on: (db, logs) => {
      cut(db, logs, from)
      setHead(db, logs, "seq", from - 1)
      db.prepare(
        "UPDATE audit_heads SET chain = (SELECT chain FROM audit_entries WHERE log = ? AND seq = ?) WHERE log = ?"
      ).run(logs.log, from - 1, logs.log)
    },
    bad: []
  })),
  "other head": fc.constant({
    told: "the head is the other log's",
    on: (db, { log, other }) => {
      db.prepare("DELETE FROM audit_heads WHERE log = ?").run(log)
      db.prepare("UPDATE audit_heads SET log = ? WHERE log = ?").run(log, other)
    },
    bad: []
  }),
  behead: fc.integer({ min: 2, max: length + 1 }).map((from) => ({
    told: `the head is deleted, and the tail from ${from}`,
    on: (db, logs) => {
      cut(db, logs, from)
      db.prepare("DELETE FROM audit_heads WHERE log = ?").run(logs.log)
    },
    bad: []
  }))
}

/** A log of some entries, and another of as many. */
const twoLogs = Effect.gen(function* () {
  const acme = yield* newOrganization("acme")
  const other = yield* newOrganization("other")
  for (let n = 2; n <= length; n++) {
    yield* write(acme.id, { n })
    yield* write(other.id, { n })
  }
  return { acme, other }
})

describe("verify", () => {
  it.live("finds a fresh log whole, from any number on", () =>
    Effect.gen(function* () {
      const { acme } = yield* twoLogs
      const whole = yield* verify(acme)
      assert.deepInclude(whole, { valid: true, entries: length, first_invalid_seq: null })
      assert.strictEqual(whole.head?.seq, length)
      for (let from_seq = 1; from_seq <= length + 2; from_seq++) {
        const rest = yield* verify(acme, { from_seq })
        assert.deepInclude(rest, { valid: true, entries: Math.max(0, length + 1 - from_seq), first_invalid_seq: null })
      }
      assert.deepStrictEqual(yield* verifyAll(), { valid: true, entries: 0, head: null, first_invalid_seq: null })
      yield* write(null)
      assert.deepInclude(yield* verifyAll(), { valid: true, entries: 1 })
      assert.deepStrictEqual(yield* verifyAll({}, acme.id), whole)
    }).pipe(onEverything)
  )

  for (const [name, attack] of Object.entries(attacks)) {
    it.live.skipIf(isOnPostgres())(
      `finds every attack of the kind "${name}", and names the first bad number`,
      () =>
        Effect.gen(function* () {
          yield* hasty
          const { acme, other } = yield* twoLogs
          // Otherwise a verification adds what the attack left, and a restore does not take it back.
          yield* (yield* AuditIndex).catchUpAll
          const db = yield* opened
          const restore = snapshot(db)
          yield* holds(
            attack,
            ({ bad, on, told }) =>
              Effect.gen(function* () {
                on(db, { log: acme.id, other: other.id })
                const found = yield* verify(acme)
                assert.isFalse(found.valid, told)
                assert.isNotNull(found.first_invalid_seq, told)
                if (bad.length > 0) assert.include(bad, found.first_invalid_seq, told)
                restore()
                assert.isTrue((yield* verify(acme)).valid, `restored after: ${told}`)
              }).pipe(Effect.ensuring(Effect.sync(restore))),
            { numRuns: runs(30) }
          )
        }).pipe(onDamagedFile),
      300_000
    )
  }

  it.live.skipIf(isOnPostgres())("starts at from_seq: a fault before it is not its concern, one after it is", () =>
    Effect.gen(function* () {
      const { acme, other } = yield* twoLogs
      const db = yield* opened
      const logs = { log: acme.id, other: other.id }
      update(db, logs, 3, "actor_name", "eve@example.com")
      assert.strictEqual((yield* verify(acme, { from_seq: 1 })).first_invalid_seq, 3)
      assert.strictEqual((yield* verify(acme, { from_seq: 3 })).first_invalid_seq, 3)
      assert.deepInclude(yield* verify(acme, { from_seq: 4 }), { valid: true, entries: length - 3 })
      assert.isTrue((yield* verify(other)).valid)
      cut(db, logs, length)
      assert.strictEqual((yield* verify(acme, { from_seq: 5 })).first_invalid_seq, length)
    }).pipe(onDamagedFile)
  )

  it.live.skipIf(isOnPostgres())("catches a log that was set back and written on, by a head that someone kept", () =>
    Effect.gen(function* () {
      const { acme } = yield* twoLogs
      const db = yield* opened
      const early = (yield* verify(acme)).head!
      const setBack = snapshot(db)
      yield* write(acme.id, { n: 100 })
      yield* write(acme.id, { n: 101 })
      const kept = (yield* verify(acme)).head!
      assert.isTrue((yield* verify(acme, kept)).valid)
      setBack()
      assert.deepInclude(yield* verify(acme), { valid: true, entries: length }, "whole in itself")
      assert.deepInclude(yield* verify(acme, kept), { valid: false, first_invalid_seq: kept.seq })
      for (let n = 0; n < 5; n++) {
        yield* write(acme.id, { n: 200 + n })
        assert.isTrue((yield* verify(acme)).valid)
        assert.isTrue((yield* verify(acme, early)).valid, "the part that is still there")
        assert.deepInclude(yield* verify(acme, kept), { valid: false, first_invalid_seq: kept.seq })
      }
      db.exec("DELETE FROM audit_entries; DELETE FROM audit_heads")
      assert.deepInclude(yield* verify(acme), { valid: false, entries: 0, head: null, first_invalid_seq: 1 })
    }).pipe(onDamagedFile)
  )

  it.live(
    "stays valid while entries are appended, and many may ask at once",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const acme = yield* newOrganization("acme")
        const appended = yield* Effect.fork(
          Effect.forEach(
            Array.from({ length: 500 }, (_, n) => n),
            (n) => Effect.delay(write(acme.id, { n }), "1 millis"),
            { discard: true, concurrency: 5 }
          )
        )
        const checks: Array<number> = []
        while (Option.isNone(yield* appended.poll)) {
          const found = yield* Effect.all([verify(acme), verify(acme), verify(acme, { from_seq: 10 })], {
            concurrency: "unbounded"
          })
          for (const { valid } of found) assert.isTrue(valid)
          checks.push(found[0].entries)
          yield* Effect.yieldNow()
        }
        assert.isAbove(checks.length, 1)
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 501 })
      }).pipe(onEverything),
    300_000
  )

  it.live("of a short log does not wait for the end of a long one's; of the same log, one runs at a time", () =>
    Effect.gen(function* () {
      yield* hasty
      const [long, short] = [yield* newOrganization("long"), yield* newOrganization("short")]
      yield* write(long.id, ...Array.from({ length: 3_000 }, (_, n) => ({ n })))
      // How many turns of the event loop had passed when each had ended.
      let turns = 0
      yield* Effect.fork(
        Effect.forever(
          Effect.andThen(
            nextTick,
            Effect.sync(() => turns++)
          )
        )
      )
      const endOf = Effect.map(verify(long), (report) => ({ ...report, turns }))
      const first = yield* Effect.fork(endOf)
      const second = yield* Effect.fork(endOf)
      for (let n = 0; n < 10; n++) yield* nextTick
      assert.isTrue((yield* verify(short)).valid)
      assert.isNull(first.unsafePoll(), "the long one is still under way")
      const reports = [yield* Fiber.join(first), yield* Fiber.join(second)]
      for (const report of reports) assert.deepInclude(report, { valid: true, entries: 3_001 })
      const [earlier = 0, later = 0] = reports.map((report) => report.turns).sort((one, other) => one - other)
      assert.isAbove(later, 1.1 * earlier, "one has begun when the other had ended")
    }).pipe(onEverything)
  )

  it.live("lets timers and sockets have their turn while it walks", () =>
    Effect.gen(function* () {
      yield* hasty
      const acme = yield* newOrganization("acme")
      yield* write(acme.id, ...Array.from({ length: 2_600 }, (_, n) => ({ n })))
      let turns = 0
      let walking = true
      const count = () => {
        turns++
        if (walking) setImmediate(count)
      }
      setImmediate(count)
      assert.isTrue((yield* verify(acme)).valid)
      walking = false
      assert.isAtLeast(turns, 5)
    }).pipe(onEverything)
  )

  it.live.skipIf(isOnPostgres())(
    "walks more entries than one stride, and finds a fault beyond the first",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const acme = yield* newOrganization("acme")
        yield* write(acme.id, ...Array.from({ length: 1_100 }, (_, n) => ({ n })))
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 1_101 })
        const db = yield* opened
        for (const n of [1_101, 1_001, 1_000, 501, 500]) {
          update(db, { log: acme.id, other: acme.id }, n, "metadata", `{"n":-1}`)
          assert.deepInclude(yield* verify(acme), { valid: false, entries: n - 1, first_invalid_seq: n })
        }
        assert.strictEqual((yield* listAll({ limit: 1 })).data.length, 1)
      }).pipe(onDamagedFile),
    300_000
  )
})
