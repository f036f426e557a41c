import { AuditLog } from "@coffer/server/audit/AuditLog"
import { auditFailures } from "@coffer/server/audit/GroupAppends"
import { Login } from "@coffer/server/directory/login/Login"
import { SuperadminsLive } from "@coffer/server/directory/login/Superadmins"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import type Sqlite from "better-sqlite3"
import { Cause, Effect, Exit, Metric, Redacted, TestClock } from "effect"
import { failingStatement } from "../support/FailingDriver.js"
import { DbPath, email, failing, invariants, onDatabase, Outbox, raw, rawAt, readSecret } from "../support/Services.js"
import { changes, withPeople, world } from "./Changes.js"

/** Returns the rows of all tables but the audit log, which may lack an entry that could not be written. */
const contents = (db: Sqlite.Database) =>
  db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'audit_%'")
    .all()
    .map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()])

const auditEntries = (db: Sqlite.Database) =>
  db.prepare<[], number>("SELECT count(*) FROM audit_entries").pluck().get()!

describe("a statement that fails, whichever it is,", () => {
  for (const [what, change] of Object.entries(changes)) {
    it.effect(`of ${what} leaves all of it or nothing`, () =>
      Effect.gen(function* () {
        const path = yield* DbPath
        const made = yield* world
        const db = yield* raw
        let [statement, failed, unaudited] = [1, 0, 0]
        for (; ; statement++) {
          const [before, entriesBefore] = [contents(db), auditEntries(db)]
          const { exit, hit } = yield* failing(statement, change(made))
          yield* invariants(path)
          if (Exit.isFailure(exit)) {
            failed++
            assert.isTrue(hit, "it fails for no other reason")
            assert.deepStrictEqual(contents(db), before, `statement ${statement}: nothing is changed`)
            assert.strictEqual(auditEntries(db), entriesBefore, "nor recorded")
            continue
          }
          assert.notDeepEqual(contents(db), before, "what succeeds is done")
          if (!hit) {
            assert.isAbove(auditEntries(db), entriesBefore, "and recorded")
            break
          }
          // The audit entry's own statement failed: the change was committed without it, which follows. Once is enough.
          unaudited++
          assert.strictEqual(auditEntries(db), entriesBefore)
          yield* (yield* AuditLog).flush
          assert.isAbove(auditEntries(db), entriesBefore, "the entry comes later")
          break
        }
        assert.isAbove(failed, 0)
        assert.isTrue(unaudited === 1, "an audit entry alone never fails a change")
        assert.strictEqual(statement, failed + 1, "all before it do")
      }).pipe(withPeople, Effect.withTracerEnabled(false), onDatabase())
    )
  }

  for (const [what, change] of Object.entries(changes)) {
    it.effect(`as the beginning or the end of ${what} leaves nothing of it, and the next call is served`, () =>
      Effect.gen(function* () {
        const made = yield* world
        const db = yield* raw
        for (const which of [/^BEGIN/, /^SAVEPOINT change/, /^RELEASE change/, /^COMMIT/]) {
          const [before, entriesBefore] = [contents(db), auditEntries(db)]
          const { exit, statement } = yield* failingStatement(1, change(made), which)
          assert.match(statement ?? "", which)
          assert.isTrue(Exit.isFailure(exit))
          assert.deepStrictEqual([contents(db), auditEntries(db)], [before, entriesBefore])
          yield* invariants(yield* DbPath)
        }
        const again = yield* Effect.exit(change(made))
        assert.isTrue(Exit.isSuccess(again), "no transaction is left open")
      }).pipe(withPeople, onDatabase())
    )
  }

  it.effect("of the hourly maintenance leaves the rest as it is, for the next one", () =>
    Effect.gen(function* () {
      const login = yield* Login
      const db = yield* raw
      yield* world
      yield* login.request(email("ada@example.com"))
      yield* Effect.flip(login.verify(email("ada@example.com"), Redacted.make("000000")))
      yield* TestClock.adjust("31 days")
      const rows = () =>
        ["sessions", "login_codes", "login_failures"].map((table) => db.prepare(`SELECT * FROM ${table}`).all().length)
      const before = rows()
      const { sweep } = yield* Maintenance
      const seen = { undone: 0, done: 0 }
      for (let at = 1; ; at++) {
        const { exit, statement } = yield* failingStatement(at, sweep)
        yield* invariants(yield* DbPath)
        if (statement === undefined) {
          assert.isTrue(Exit.isSuccess(exit), String(exit))
          break
        }
        const left = rows()
        if (left.every((count) => count === 0)) seen.done++
        else {
          // Few rows are one transaction a table.
          for (const [index, count] of left.entries()) assert.include([0, before[index]], count, statement)
          seen.undone++
        }
      }
      assert.isAbove(seen.undone, 4)
      assert.isAbove(seen.done, 3, "what comes after it may fail and leaves it as it is")
      assert.strictEqual((yield* (yield* SqlClient.SqlClient)`PRAGMA busy_timeout`)[0]?.timeout, 0)
    }).pipe(withPeople, Effect.provide(Maintenance.Default), onDatabase())
  )

  it.effect("of the start leaves all superadmins of the settings made, or nothing changed", () =>
    Effect.gen(function* () {
      const db = yield* raw
      const superadmins = db.prepare("SELECT email FROM users WHERE superadmin = 1 ORDER BY email").pluck()
      db.exec(`INSERT INTO users (id, email, name, superadmin, created_at, updated_at)
        VALUES ('00000000-0000-4000-8000-000000000000', 'former@example.com', 'former', 1, '', '')`)
      const before = contents(db)
      for (let at = 1; ; at++) {
        const { exit, hit } = yield* failing(at, Effect.scoped(Effect.provide(Effect.void, SuperadminsLive)))
        yield* invariants(yield* DbPath)
        if (Exit.isSuccess(exit)) {
          assert.isFalse(hit)
          assert.isAbove(at, 5)
          break
        }
        assert.isTrue(hit, String(exit))
        assert.deepStrictEqual(contents(db), before, `statement ${at}`)
      }
      assert.deepStrictEqual(superadmins.all(), ["boss@example.com", "root@example.com"])
    }).pipe(onDatabase({ SUPERADMIN_EMAIL_0: "root@example.com", SUPERADMIN_EMAIL_1: "boss@example.com" }))
  )

  it.effect("of a batch of reads' entries loses no entry: they are kept, and the next flush appends them", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const { ada } = yield* world
      const db = yield* raw
      const failures = Effect.map(Metric.value(auditFailures), ({ count }) => count)
      let failed = 0
      for (let statement = 1; ; statement++) {
        yield* Effect.forEach(["A", "B", "C"], (name) => readSecret(ada, name))
        const [before, counted] = [auditEntries(db), yield* failures]
        const { exit, hit } = yield* failing(statement, audit.flush)
        assert.isTrue(Exit.isSuccess(exit))
        yield* invariants(yield* DbPath)
        assert.strictEqual(auditEntries(db) - before, hit ? 0 : 3, "all or none")
        yield* audit.flush
        assert.strictEqual(auditEntries(db) - before, 3)
        assert.strictEqual((yield* failures) - counted, 0)
        if (!hit) break
        failed++
      }
      assert.isAtLeast(failed, 3)
    }).pipe(withPeople, onDatabase())
  )

  it.effect("of verifying a code leaves no session without its user, nor a code that can be used again", () =>
    Effect.gen(function* () {
      const path = yield* DbPath
      const login = yield* Login
      const outbox = yield* Outbox
      const db = yield* raw
      const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!
      let failed = 0
      for (let statement = 1; ; statement++) {
        const address = email(`user-${statement}@example.com`)
        yield* login.request(address)
        const { code } = outbox.at(-1)!
        const [users, sessions] = [count("users"), count("sessions")]
        const { exit, hit } = yield* failing(statement, login.verify(address, code))
        yield* invariants(path)
        if (Exit.isSuccess(exit)) {
          assert.strictEqual(count("sessions"), sessions + 1)
          assert.isTrue(hit, "the audit entry's statements come last, and fail nothing")
          break
        }
        failed++
        assert.deepStrictEqual([count("users"), count("sessions")], [users, sessions], `statement ${statement}`)
        const claimed = db.prepare("SELECT state FROM login_codes WHERE email = ?").pluck().get(address)
        const again = yield* Effect.exit(login.verify(address, code))
        assert.strictEqual(Exit.isSuccess(again), claimed === "pending", "a code that was taken away stays so")
      }
      assert.isAbove(failed, 5)
      assert.isString(Redacted.value(outbox.at(-1)!.code))
    }).pipe(onDatabase())
  )
})

describe("a write that the database itself refuses, whichever it is,", () => {
  const tables: ReadonlyArray<readonly [table: string, on: string, change: keyof typeof changes]> = [
    ["environments", "UPDATE", "setting a new secret"],
    ["secrets", "INSERT", "setting a new secret"],
    ["secrets", "UPDATE", "setting a secret again"],
    ["secret_versions", "INSERT", "setting a secret again"],
    ["secrets", "UPDATE", "removing a secret"],
    ["environments", "UPDATE", "removing a secret"],
    ["secret_versions", "INSERT", "writing a bundle"],
    ["secrets", "INSERT", "writing a bundle"],
    ["environments", "UPDATE", "writing a bundle"],
    ["projects", "INSERT", "making a project"],
    ["environments", "INSERT", "making a project"],
    ["members", "INSERT", "making an organization"],
    ["users", "INSERT", "inviting a stranger"],
    ["members", "INSERT", "inviting a stranger"],
    ["acl_rules", "UPDATE", "removing a member and its rules"],
    ["api_keys", "INSERT", "making a service account"],
    ["api_keys", "INSERT", "giving a service account a new key"],
    ["acl_rules", "UPDATE", "revoking a service account and its rules"]
  ]

  for (const [table, on, what] of tables) {
    it.effect(`an ${on} of ${table} while ${what}, leaves nothing`, () =>
      Effect.gen(function* () {
        const path = yield* DbPath
        const made = yield* world
        // Lets the first writes of the table pass, then the first but one, and so on.
        const db = yield* rawAt(path)
        for (let nth = 1; ; nth++) {
          const [before, entriesBefore] = [contents(db), auditEntries(db)]
          db.exec(`
            CREATE TABLE written (n INTEGER);
            CREATE TRIGGER broken BEFORE ${on} ON ${table} BEGIN
              INSERT INTO written VALUES (1);
              SELECT RAISE(ABORT, 'broken') WHERE (SELECT count(*) FROM written) = ${nth};
            END`)
          const exit = yield* Effect.exit(changes[what]!(made))
          db.exec("DROP TRIGGER broken; DROP TABLE written")
          yield* invariants(path)
          if (Exit.isSuccess(exit)) {
            assert.isAbove(nth, 1, "the trigger was met")
            break
          }
          assert.include(Cause.pretty(exit.cause, { renderErrorCause: true }), "broken")
          assert.deepStrictEqual(contents(db), before)
          assert.strictEqual(auditEntries(db), entriesBefore)
        }
      }).pipe(withPeople, onDatabase())
    )
  }
})
