import { statSync } from "node:fs"
import { Login } from "@coffer/server/directory/login/Login"
import { Maintenance, MaintenanceLive } from "@coffer/server/operations/maintenance/Maintenance"
import { nextTick } from "@coffer/server/base/EventLoop"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import { failingStatement } from "../support/FailingDriver.js"
import { logged } from "../support/Logged.js"
import {
  DbPath,
  email,
  onDatabase,
  organization,
  Outbox,
  outcome,
  raw,
  rawAt,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"

const ada = email("ada@example.com")
const sweep = Effect.flatMap(Maintenance, ({ sweep }) => sweep).pipe(Effect.provide(Maintenance.Default))

const request = Effect.flatMap(Login, (login) => login.request(ada))
const verify = (code: string) => Effect.flatMap(Login, (login) => login.verify(ada, Redacted.make(code)))
const lastCode = Effect.map(Outbox, (outbox) => Redacted.value(outbox.at(-1)?.code ?? Redacted.make("")))

const logBytes = Effect.map(DbPath, (path) => statSync(`${path}-wal`).size)

/** The states of the login codes that are kept. */
const codes = Effect.map(raw, (db) => db.prepare("SELECT state FROM login_codes ORDER BY created_at").pluck().all())

/** Lets what waits run: a commit takes a turn of the event loop. */
const turns = Effect.repeatN(nextTick, 100)

/** A round ends with an empty write-ahead log. */
const roundIsOver: Effect.Effect<void, never, DbPath> = Effect.flatMap(logBytes, (bytes) =>
  bytes === 0 ? Effect.void : Effect.zipRight(nextTick, roundIsOver)
)

/** Lets the clock go on and what waits for it run. */
const pass = (duration: "1 hour" | "59 minutes" | "1 minute") => Effect.zipRight(TestClock.adjust(duration), turns)

describe("the hour's round", () => {
  it.effect("comes at the start and every hour, and the write-ahead log is empty after it", () =>
    Effect.gen(function* () {
      const owner = yield* organization()
      assert.isAbove(yield* logBytes, 0)
      yield* Layer.build(MaintenanceLive)
      yield* roundIsOver
      for (const hour of [1, 2, 3]) {
        yield* setSecret(owner, "A", `in hour ${hour}`)
        yield* pass("59 minutes")
        assert.isAbove(yield* logBytes, 0, `not before hour ${hour}`)
        yield* pass("1 minute")
        yield* roundIsOver
      }
    }).pipe(onDatabase())
  )

  it.effect("that fails is logged, and the next one comes all the same", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      yield* organization()
      const start = Effect.zipRight(Layer.build(MaintenanceLive), turns)
      const { statement } = yield* failingStatement(1, start, /DELETE FROM login_codes/)
      assert.isDefined(statement)
      assert.include(lines.join("\n"), "ERROR maintenance failed")
      assert.isAbove(yield* logBytes, 0)
      yield* pass("1 hour")
      yield* roundIsOver
      assert.strictEqual(lines.filter((line) => line.startsWith("ERROR")).length, 1)
    }).pipe(Effect.provide(layer), onDatabase())
  })

  it.effect("removes old rows a few at a time, with other work in between", () =>
    Effect.gen(function* () {
      const db = yield* raw
      const count = () => db.prepare("SELECT count(*) FROM login_failures").pluck().get()
      db.exec(`INSERT INTO login_failures (id, email, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        SELECT 'id' || i, 'ada@example.com', '1969-01-01T00:00:00.000Z' FROM n`)
      const seen = new Set<unknown>()
      const watch = Effect.forever(
        Effect.zipRight(
          Effect.sync(() => seen.add(count())),
          nextTick
        )
      )
      const watching = yield* Effect.fork(watch)
      yield* nextTick
      yield* sweep
      yield* Fiber.interrupt(watching)
      assert.strictEqual(count(), 0)
      assert.isAbove(seen.size, 3, "others see it happen")

      db.exec(`INSERT INTO login_failures (id, email, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        SELECT 'id' || i, 'ada@example.com', '1969-01-01T00:00:00.000Z' FROM n`)
      const { statement } = yield* failingStatement(3, sweep, /DELETE FROM login_failures/)
      assert.isDefined(statement)
      assert.strictEqual(count(), 600, "what was removed before stays removed")
    }).pipe(onDatabase())
  )

  it.effect("says so, and holds nobody up, when the write-ahead log is in use; the next one empties it", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const path = yield* DbPath
      const owner = yield* organization()
      const reader = yield* rawAt(path, { readonly: true })
      reader.exec("BEGIN")
      reader.prepare("SELECT * FROM secrets").all()
      yield* setSecret(owner, "A", "written while someone reads")
      yield* sweep
      assert.include(lines.join("\n"), "WARN the write-ahead log is in use and could not be emptied")
      assert.isAbove(yield* logBytes, 0)
      reader.exec("COMMIT")
      yield* sweep
      assert.strictEqual(yield* logBytes, 0)
    }).pipe(Effect.provide(layer), onDatabase())
  })

  it.effect(
    "tells the planner of queries how large the tables have become, once the database is not small any more",
    () =>
      Effect.gen(function* () {
        const owner = yield* organization()
        const names = Array.from({ length: 200 }, (_, index) => [`K${index}`, "v"])
        yield* writeBundle(owner, { set: Object.fromEntries(names) })
        yield* removeSecret(owner, "K7")
        const db = yield* raw
        yield* sweep
        assert.throws(() => db.prepare("SELECT * FROM sqlite_stat1"), /no such table/)
        const fill = db.prepare("INSERT INTO login_failures (id, email, created_at) VALUES (?, ?, '9999')")
        for (let row = 0; row < 45; row++) fill.run(`row ${row}`, "x".repeat(1024 * 1024))
        yield* sweep
        const rows = db.prepare<[], string>("SELECT stat FROM sqlite_stat1 WHERE tbl = 'secrets'").pluck().all()
        assert.isTrue(
          rows.some((stat) => stat.startsWith("200 ")),
          rows.join()
        )
      }).pipe(onDatabase())
  )
})

describe("login codes", () => {
  it.effect("that were used, replaced or never used go an hour after they were asked for, and not before", () =>
    Effect.gen(function* () {
      yield* request
      yield* verify(yield* lastCode)
      yield* request
      yield* request
      assert.deepStrictEqual(yield* codes, ["claimed", "replaced", "pending"])
      yield* TestClock.adjust("59 minutes")
      yield* sweep
      assert.strictEqual((yield* codes).length, 3)
      yield* TestClock.adjust("1 minute")
      yield* sweep
      assert.deepStrictEqual(yield* codes, [])
    }).pipe(onDatabase())
  )

  it.effect("are counted by the limit on requests as if nobody had tidied up", () =>
    Effect.gen(function* () {
      for (let asked = 0; asked < 5; asked++) {
        yield* request
        yield* TestClock.adjust("2 minutes")
        yield* sweep
      }
      assert.strictEqual(yield* outcome(request), "RateLimited")
      yield* TestClock.adjust("5 minutes")
      yield* sweep
      assert.strictEqual(yield* outcome(request), "success", "15 minutes after the first")
    }).pipe(onDatabase())
  )

  it.effect("and failures keep an address locked to the end of its hour, and not longer", () =>
    Effect.gen(function* () {
      for (let attempt = 0; attempt < 10; attempt++) yield* outcome(verify("000000"))
      for (const minutes of [30, 29]) {
        yield* TestClock.adjust(`${minutes} minutes`)
        yield* sweep
        assert.strictEqual(yield* outcome(verify("000000")), "LockedOut")
      }
      yield* TestClock.adjust("1 minute")
      yield* sweep
      assert.strictEqual(yield* outcome(verify("000000")), "InvalidCode")
    }).pipe(onDatabase())
  )
})
