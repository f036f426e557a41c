import { Database } from "@coffer/server/database/Database"
import { lockFence, moveFence } from "@coffer/server/database/postgres/DatabaseFence"
import { orgScope } from "@coffer/server/database/Scopes"
import { OrgId } from "@coffer/domain/base/Ids"
import { query } from "@coffer/server/database/Query"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { onServer } from "../support/postgres/Databases.js"
import { add, Name, names, tagOf, transaction, withDatabase } from "./Support.js"

const databaseName = Effect.flatMap(query, ({ one }) =>
  Effect.map(one(Name)`SELECT current_database() AS name`({}), ({ name }) => name)
)

/** Takes over the test's database as an offline command does, on a connection of its own. */
const takenOver = Effect.flatMap(databaseName, (name) =>
  onServer(name, async (client) => {
    await client.query("BEGIN")
    await client.query(lockFence)
    await client.query(moveFence("rotated", "2026-11-28T10:00:00.000Z"))
    await client.query("COMMIT")
  })
)

describe("a database that was taken over", () => {
  it.live("refuses the changes and snapshots of a server that opened it before, which learns why", () =>
    Effect.gen(function* () {
      const { change, snapshot, superseded, unready } = yield* Database
      yield* transaction(add("before"))
      yield* takenOver
      const scoped = change([orgScope(OrgId.make("0192f0c1-5b7e-4c3a-9d2e-4f6a8b0c1dd0"))], add("scoped"))
      for (const late of [transaction(add("late")), scoped, transaction(Effect.void), snapshot(names)]) {
        assert.strictEqual(tagOf(yield* Effect.exit(Effect.asVoid<unknown, never, Database>(late))), "Superseded")
      }
      assert.match((yield* unready) ?? "", /went on without this server/)
      assert.deepStrictEqual(yield* names, ["before"])
      assert.deepStrictEqual(yield* superseded, {
        message:
          "this server ends and has written nothing more, because the master key was rotated while it was paused or cut off (2026-11-28T10:00:00.000Z): start it again with the new master key",
        mayRestart: true
      })
    }).pipe(withDatabase())
  )

  it.live("completes the open change before the takeover, and refuses the next one", () =>
    Effect.gen(function* () {
      const [begun, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const open = yield* Effect.fork(
        transaction(Effect.all([add("open"), Deferred.succeed(begun, undefined), Deferred.await(go)]))
      )
      yield* Deferred.await(begun)
      const taking = yield* Effect.fork(takenOver)
      yield* Effect.sleep("300 millis")
      const next = yield* Effect.fork(Effect.exit(transaction(add("next"))))
      yield* Effect.sleep("300 millis")
      assert.isNull(taking.unsafePoll())
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(open)
      yield* Fiber.join(taking)
      assert.strictEqual(tagOf(yield* Fiber.join(next)), "Superseded")
      assert.deepStrictEqual(yield* names, ["open"])
    }).pipe(withDatabase())
  )
})
