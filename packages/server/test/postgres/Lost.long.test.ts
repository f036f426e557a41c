import { afterCommit, afterwards, Database } from "@coffer/server/database/Database"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { query } from "@coffer/server/database/Query"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { freshDatabase, onServer, settingsOf } from "../support/postgres/Databases.js"
import { proxy } from "../support/postgres/Proxy.js"
import { add, Name, names, tagOf, terminate, transaction, withDatabase } from "./Support.js"

describe("a lost connection to PostgreSQL", () => {
  it.live("is nothing to the next request when it was idle", () =>
    Effect.gen(function* () {
      yield* Effect.all(
        Array.from({ length: 4 }, () => names),
        { concurrency: 4 }
      )
      assert.isAbove(yield* terminate("state = 'idle'"), 0)
      yield* Effect.sleep("50 millis")
      yield* transaction(add("a"))
      assert.deepStrictEqual(yield* names, ["a"])
    }).pipe(withDatabase())
  )

  it.live("in the middle of a transaction, a snapshot or a read has changed nothing, and says so", () =>
    Effect.gen(function* () {
      const { all } = yield* query
      const { snapshot } = yield* Database
      const slow = all(Name)`SELECT CAST(pg_sleep(30) AS TEXT) AS name`({})
      const between = Effect.flatMap(Deferred.make<void>(), (never) =>
        transaction(Effect.all([add("b"), Effect.timeoutOption(Deferred.await(never), "500 millis"), add("c")]))
      )
      for (const [condition, lost] of [
        ["query LIKE '%pg_sleep(30)%'", transaction(Effect.zipRight(add("a"), slow))],
        ["query LIKE '%pg_sleep(30)%'", snapshot(slow)],
        ["query LIKE '%pg_sleep(30)%'", slow],
        ["state = 'idle in transaction'", between]
      ] as const) {
        const fiber = yield* Effect.fork(Effect.asVoid<unknown, unknown, Database>(lost))
        yield* Effect.sleep("200 millis")
        assert.isAbove(yield* terminate(`pid <> pg_backend_pid() AND ${condition}`), 0)
        assert.strictEqual(tagOf(yield* Fiber.await(fiber)), "DatabaseUnavailable")
        assert.deepStrictEqual(yield* names, [])
      }
    }).pipe(withDatabase())
  )

  it.live("that cannot be opened is told within five seconds", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      const context = yield* postgresDatabase(settingsOf(url, { connections: 2 }))
      yield* Effect.gen(function* () {
        const { unready } = yield* Database
        assert.isNull(yield* unready)
        yield* onServer("postgres", async (client) => {
          await client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`)
          await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name])
        })
        yield* Effect.sleep("50 millis")
        const [duration, exit] = yield* Effect.timed(Effect.exit(transaction(add("a"))))
        assert.strictEqual(tagOf(exit), "DatabaseUnavailable")
        assert.isBelow(Duration.toMillis(duration), 5_000)
        assert.strictEqual(tagOf(yield* Effect.exit(names)), "DatabaseUnavailable")
        assert.isNull(yield* unready, "a blip")
        yield* Effect.sleep("10 seconds")
        assert.strictEqual(yield* unready, "the database does not respond")
        yield* onServer("postgres", (client) => client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`))
        yield* transaction(add("a"))
        assert.isNull(yield* unready)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
  it.live("between COMMIT and its answer leaves the outcome unknown, whether the change was made or not", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const { behind, cut } = yield* proxy(url)
      const context = yield* postgresDatabase(settingsOf(behind, { connections: 2 }))
      yield* Effect.gen(function* () {
        yield* transaction(add("before"))
        const seen: Array<string> = []
        for (const when of ["unsent", "sent"] as const) {
          cut(when)
          const exit = yield* Effect.exit(
            transaction(
              Effect.all([
                add(when),
                afterCommit(Effect.sync(() => seen.push("commit"))),
                afterwards(Effect.sync(() => seen.push("end")))
              ])
            )
          )
          assert.strictEqual(tagOf(exit), "OutcomeUnknown", when)
        }
        assert.deepStrictEqual(seen, ["end", "end"])
        assert.deepStrictEqual(yield* names, ["before", "sent"])
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})
