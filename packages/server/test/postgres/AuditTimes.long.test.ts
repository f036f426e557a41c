import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { transaction, withDatabase } from "./Support.js"

const TimeRow = Schema.Struct({
  block: Schema.Number,
  log: Schema.String,
  oldest: Schema.String,
  newest: Schema.String
})

const statements = Effect.map(query, ({ all, write }) => ({
  add: write`
    INSERT INTO audit_times (block, log, oldest, newest) VALUES (${"block"}, ${"log"}, ${"oldest"}, ${"newest"})`,
  rows: all(TimeRow)`SELECT block, log, oldest, newest FROM audit_times ORDER BY block, log`
}))

const add = (block: number, log: string, oldest: string, newest: string) =>
  Effect.flatMap(statements, (run) => run.add({ block, log, oldest, newest }))

const rows = Effect.map(
  Effect.flatMap(statements, (run) => run.rows({})),
  (found) => found.map(({ block, log, newest, oldest }) => [block, log, oldest, newest])
)

const maintain = Effect.flatMap(Database, (database) => database.maintain)

describe("the times of the blocks of the audit log", () => {
  it.live("are merged to one row a finished block by the maintenance, and so are rows that come late", () =>
    Effect.gen(function* () {
      yield* transaction(
        Effect.gen(function* () {
          yield* add(0, "a", "2026-01-02", "2026-01-03")
          yield* add(0, "b", "2026-01-01", "2026-01-02")
          for (const block of [1, 2, 3]) yield* add(block, "a", "2026-01-04", "2026-01-05")
        })
      )
      const unfinished = [2, 3].map((block) => [block, "a", "2026-01-04", "2026-01-05"])
      yield* maintain
      const first = [1, "", "2026-01-04", "2026-01-05"]
      assert.deepStrictEqual(yield* rows, [[0, "", "2026-01-01", "2026-01-03"], first, ...unfinished])
      yield* transaction(add(0, "c", "2025-12-31", "2026-01-09"))
      yield* maintain
      assert.deepStrictEqual(yield* rows, [[0, "", "2025-12-31", "2026-01-09"], first, ...unfinished])
    }).pipe(withDatabase())
  )

  it.live("are left as they are where a transaction is open, which is not waited for", () =>
    Effect.gen(function* () {
      const { rows: readRows } = yield* statements
      yield* transaction(Effect.forEach([0, 1, 2, 3], (block) => add(block, "a", "2026-01-01", "2026-01-01")))
      const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const touch = Effect.flatMap(
        Effect.map(query, ({ write }) => write`UPDATE audit_times SET newest = ${"newest"} WHERE block = 0`),
        (run) => run({ newest: "2026-01-02" })
      )
      const open = yield* Effect.fork(
        transaction(
          touch.pipe(Effect.zipRight(Deferred.succeed(locked, undefined)), Effect.zipRight(Deferred.await(release)))
        )
      )
      yield* Deferred.await(locked)
      yield* maintain
      assert.deepStrictEqual(
        (yield* readRows({})).map(({ log }) => log),
        ["a", "", "a", "a"]
      )
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(open)
      yield* maintain
      assert.deepStrictEqual((yield* rows)[0], [0, "", "2026-01-01", "2026-01-02"])
    }).pipe(withDatabase())
  )
})
