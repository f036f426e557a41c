import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { hasMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { failing } from "../support/Services.js"
import { createRole, lease, list, mariaDbWorld, revoke, round, usersIn, withLeases, world } from "./World.js"

const engines = [
  { engine: "PostgreSQL", isAbsent: false, world },
  { engine: "MariaDB (needs mariadbd)", isAbsent: !hasMariaDb, world: mariaDbWorld }
]

describe.each(engines)("a lease on $engine", ({ isAbsent, world }) => {
  it.effect.skipIf(isAbsent)("cut off at any statement of its making or its end leaves no user", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* createRole(ada)
      let at = 1
      for (; ; at++) {
        const { exit, hit } = yield* failing(at, lease(ada, { key: `run-${at}` }))
        if (exit._tag === "Success") yield* revoke(ada, exit.value.id)
        yield* TestClock.adjust("61 seconds")
        yield* round
        assert.deepStrictEqual(yield* usersIn(database), [], `statement ${at}`)
        assert.deepStrictEqual(yield* list(ada), [], `statement ${at}`)
        if (!hit) break
      }
      assert.isAtLeast(at, 5)
      for (at = 1; ; at++) {
        yield* lease(ada)
        for (const { id } of yield* list(ada)) yield* revoke(ada, id)
        const { hit } = yield* failing(at, round)
        yield* TestClock.adjust("11 minutes")
        yield* round
        assert.deepStrictEqual(yield* usersIn(database), [], `statement ${at} of the end`)
        assert.deepStrictEqual(yield* list(ada), [], `statement ${at} of the end`)
        if (!hit) break
      }
      assert.isAtLeast(at, 3)
    }).pipe(withLeases())
  )
})
