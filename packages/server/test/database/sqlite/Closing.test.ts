import { Transaction } from "@coffer/server/database/Database"
import { openConnection } from "@coffer/server/database/sqlite/Connection"
import { groupCommit } from "@coffer/server/database/sqlite/GroupCommit"
import { databaseOfAnySchema } from "@coffer/server/database/sqlite/SqliteDatabase"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { freshPath, rawAt } from "../../support/Services.js"

/** A database that is open, with a table of the test's own, and what is in it once that is closed. */
const opened = Effect.gen(function* () {
  const path = yield* freshPath
  const scope = yield* Scope.make()
  const { transaction } = yield* Effect.gen(function* () {
    const connection = yield* openConnection(path)
    for (const text of ["PRAGMA journal_mode = WAL", "CREATE TABLE notes (note TEXT)"]) {
      yield* connection.execute(text, [], undefined)
    }
    return yield* groupCommit(connection)
  }).pipe(Scope.extend(scope))
  return {
    transaction,
    note: (text: string) =>
      Effect.flatMap(Transaction, ([{ connection }]) =>
        connection.execute("INSERT INTO notes VALUES (?)", [text], undefined)
      ),
    close: Scope.close(scope, Exit.void),
    notes: Effect.map(rawAt(path), (db) => db.prepare("SELECT note FROM notes").pluck().all())
  }
})

describe("a change not yet committed when the database is closed", () => {
  it.effect("is not told as done unless it is kept, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const told = new Set<boolean>()
      for (let turns = 0; turns < 8; turns++) {
        const { close, note, notes, transaction } = yield* opened
        const change = yield* Effect.fork(transaction(note("a")))
        yield* Effect.repeatN(Effect.yieldNow(), turns)
        yield* close
        const exit = yield* Fiber.await(change)
        assert.deepStrictEqual(yield* notes, Exit.isSuccess(exit) ? ["a"] : [])
        told.add(Exit.isSuccess(exit))
      }
      assert.isTrue(told.has(false))
    }).pipe(Effect.withTracerEnabled(false), Effect.scoped)
  )

  it.effect("is not kept in part when it is in the middle of it", () =>
    Effect.gen(function* () {
      const { close, note, notes, transaction } = yield* opened
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const change = yield* Effect.fork(
        transaction(
          note("a").pipe(
            Effect.zipRight(Deferred.succeed(begun, undefined)),
            Effect.zipRight(Deferred.await(go)),
            Effect.zipRight(note("b"))
          )
        )
      )
      const next = yield* Effect.fork(transaction(note("c")))
      yield* Deferred.await(begun)
      yield* close
      yield* Deferred.succeed(go, undefined)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(change)))
      assert.isTrue(Exit.isFailure(yield* Fiber.await(next)))
      assert.deepStrictEqual(yield* notes, [])
    }).pipe(Effect.withTracerEnabled(false), Effect.scoped)
  )
})

describe("a database opened by a finalizer", () => {
  it.effect("is closed, although a finalizer cannot be interrupted", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.addFinalizer(() => Effect.orDie(Effect.scoped(databaseOfAnySchema(path))))
    }).pipe(Effect.scoped)
  )
})
