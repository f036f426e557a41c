import { isDiskFull } from "@coffer/server/base/Reason"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { onDatabase, raw, transaction } from "../../support/Services.js"

const ways = { "is traced": true, "is not traced": false }

/** A table of the test's own, what is in it for everybody, and a statement for which there is no room. */
const table = Effect.gen(function* () {
  const db = yield* raw
  db.exec("CREATE TABLE notes (note TEXT) STRICT")
  const all = db.prepare("SELECT note FROM notes ORDER BY rowid").pluck()
  const sql = yield* SqlClient.SqlClient
  const note = (text: string) => sql`INSERT INTO notes (note) VALUES (${text})`
  yield* sql.unsafe("PRAGMA max_page_count = 1")
  const filling = note("x".repeat(200_000))
  return { notes: () => all.all(), note, filling, sql, drop: () => db.exec("DROP TABLE notes") }
})

/** Gives other fibers their turn every few steps, as they have it after some two thousand otherwise. */
const inShortTurns = (before: number) =>
  function <A, E, R>(effect: Effect.Effect<A, E, R>) {
    return Effect.withMaxOpsBeforeYield(Effect.zipRight(Effect.repeatN(Effect.void, before), effect), 12)
  }

for (const [how, traced] of Object.entries(ways)) {
  describe(`a statement that ${how}`, () => {
    it.effect("is of no transaction unless it asks for one, at whichever step the turns of fibers end", () =>
      Effect.gen(function* () {
        const { drop, note, notes, sql } = yield* table
        // It fails inside of a transaction, and while one is open.
        const emptied = sql.unsafe("PRAGMA wal_checkpoint(TRUNCATE)")
        for (let before = 0; before < 12; before++) {
          for (let later = 0; later < 12; later += 6) {
            const [first, second] = [
              yield* Effect.fork(inShortTurns(before)(emptied)),
              yield* Effect.fork(inShortTurns(later)(transaction(note("kept"))))
            ]
            const exit = yield* Fiber.await(first)
            assert.isTrue(Exit.isSuccess(exit), `${before} and ${later} steps before: ${String(exit)}`)
            yield* Fiber.join(second)
          }
        }
        assert.lengthOf(notes(), 24)
        drop()
      }).pipe(Effect.withTracerEnabled(traced), onDatabase())
    )

    it.effect("is refused where the engine has rolled its transaction back by itself, and the next one is kept", () =>
      Effect.gen(function* () {
        const { drop, filling, note, notes } = yield* table
        const later = { "a statement": note("alone"), "a part": transaction(note("alone")) }
        for (const [what, statement] of Object.entries(later)) {
          const refused: Array<boolean> = []
          const change = Effect.gen(function* () {
            yield* note("before")
            yield* Effect.flip(filling)
            refused.push(Exit.isFailure(yield* Effect.exit(statement)))
          })
          assert.isTrue(Exit.isFailure(yield* Effect.exit(transaction(change))), what)
          assert.deepStrictEqual(refused, [true], what)
          assert.deepStrictEqual(notes(), [], what)
        }
        yield* transaction(note("after"))
        assert.deepStrictEqual(notes(), ["after"])
        drop()
      }).pipe(Effect.withTracerEnabled(traced), onDatabase())
    )

    it.effect("fails all that are rolled back with it by the reason of its own", () =>
      Effect.gen(function* () {
        const { drop, filling, note, notes } = yield* table
        const exits = yield* Effect.all(
          [note("small"), filling].map((each) => Effect.exit(transaction(each))),
          {
            concurrency: "unbounded"
          }
        )
        for (const exit of exits)
          assert.isTrue(Exit.isFailure(exit) && isDiskFull(Cause.squash(exit.cause)), String(exit))
        assert.deepStrictEqual(notes(), [])
        drop()
      }).pipe(Effect.withTracerEnabled(traced), onDatabase())
    )
  })
}
