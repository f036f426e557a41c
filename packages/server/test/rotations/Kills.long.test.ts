import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { failing } from "../support/Services.js"
import { create, loggingIn, rotationId, runNow, show, terms, turns, withRotations, world } from "./World.js"

describe("a turn", () => {
  it.effect("cut off at any statement is done by the next one, and the stored value logs in at every moment", () =>
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

  it.live("of a paused server changes nothing when the server wakes", () =>
    Effect.gen(function* () {
      const { database } = yield* world
      const target = {
        ...{ host: "localhost", address: "127.0.0.1", port: database.port, database: "postgres" },
        ...({ tls: "verify-full", ca: database.ca } as const),
        login: { user: "renewer", password: Redacted.make("canary-renewer-1") }
      }
      const login = { user: "app_a", password: Redacted.make("another") }
      // Between the statement and the commit for longer than the database waits.
      const woken = yield* Effect.exit(kinds.postgres.change(target, login, Effect.sleep("10 seconds")))
      assert.strictEqual(woken._tag, "Failure")
      assert.isTrue(yield* Effect.promise(() => database.admits("app_a", "first-a")))
    }).pipe(withRotations)
  )
})
