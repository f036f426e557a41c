import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { failing } from "../support/Services.js"
import { hasMariaDb } from "../support/mysql/RenewedMariaDb.js"
import {
  create,
  loggingIn,
  mariaDbWorld,
  rotationId,
  runNow,
  show,
  targetOf,
  terms,
  turns,
  withRotations,
  world
} from "./World.js"

const engines = [
  { engine: "PostgreSQL", isAbsent: false, world },
  { engine: "MariaDB (needs mariadbd)", isAbsent: !hasMariaDb, world: mariaDbWorld }
]

describe.each(engines)("a turn on $engine", ({ isAbsent, world }) => {
  it.effect.skipIf(isAbsent)(
    "cut off at any statement is done by the next one, and the stored value logs in at every moment",
    () =>
      Effect.gen(function* () {
        const { ada, database } = yield* world
        yield* create(terms(database))
        const { turn } = yield* turns
        const id = yield* rotationId
        let at = 1
        for (let user = "app_b"; ; at++) {
          yield* runNow
          const { hit } = yield* failing(at, turn(id))
          yield* loggingIn(ada, database)
          if (!hit) break
          yield* turn(id)
          const { failures, state } = yield* show
          assert.deepStrictEqual([state, failures], ["idle", 0], `statement ${at}`)
          assert.strictEqual((yield* loggingIn(ada, database)).user, user, `statement ${at}`)
          user = user === "app_b" ? "app_a" : "app_b"
        }
        assert.isAtLeast(at, 15)
      }).pipe(withRotations)
  )

  it.live.skipIf(isAbsent)("of a paused server changes nothing when the server wakes", () =>
    Effect.gen(function* () {
      const { database } = yield* world
      const target = targetOf(database)
      const login = { user: "app_a", password: Redacted.make("another") }
      // Between the statement and the commit for longer than the database waits.
      const woken = yield* Effect.exit(kinds[database.kind].change(target, login, Effect.sleep("10 seconds")))
      assert.strictEqual(woken._tag, "Failure")
      assert.isTrue(yield* Effect.promise(() => database.admits("app_a", "first-a")))
    }).pipe(withRotations)
  )
})
