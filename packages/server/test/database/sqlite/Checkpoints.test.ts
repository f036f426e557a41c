import { setTimeout as sleep } from "node:timers/promises"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, transaction } from "../../support/Services.js"

const state = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql.unsafe<{ log: number; checkpointed: number }>("PRAGMA wal_checkpoint(NOOP)")
  return { log: row?.log ?? 0, left: (row?.log ?? 0) - (row?.checkpointed ?? 0) }
})

let rows = 0
const insert = (kibibytes: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    transaction(
      sql`INSERT INTO login_failures (id, email, created_at)
        VALUES (${`row ${rows++}`}, ${"x".repeat(kibibytes * 1024)}, 'now')`
    )
  )

describe("the write-ahead log", () => {
  it.effect("is moved into the database file by a thread after a large change, and not by its commit", () =>
    Effect.gen(function* () {
      yield* insert(12 * 1024)
      const { left } = yield* state
      assert.isAbove(left, 3_000)
      for (let tries = 0; tries < 1_000 && (yield* state).left > 0; tries++) yield* Effect.promise(() => sleep(20))
      assert.strictEqual((yield* state).left, 0)
    }).pipe(onDatabase())
  )

  it.effect("does not grow with small changes", () =>
    Effect.gen(function* () {
      for (let changes = 0; changes < 100; changes++) {
        yield* insert(80)
        assert.isBelow((yield* state).log, 1_100)
      }
    }).pipe(onDatabase())
  )
})
