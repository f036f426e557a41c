import { setTimeout } from "node:timers/promises"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { afterAll } from "vitest"
import { freshDatabase, onServer, serverUrl, settingsOf } from "../support/postgres/Databases.js"
import { cleanUp, Program } from "../support/Program.js"
import { Relay } from "./faults/Relay.js"
import { add, names, tagOf, transaction } from "./Support.js"

afterAll(cleanUp)

const relayed = Effect.acquireRelease(
  Effect.promise(() => Relay.to(Number(new URL(serverUrl()).port))),
  (relay) => Effect.sync(() => relay.close())
)

const asRequest = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() =>
    Effect.provideService(effect, RequestInfo, {
      ...{ id: "", ip: null, client: null, route: null, actor: null },
      startedAt: performance.now()
    })
  )

describe("a PostgreSQL that accepts connections and answers nothing", () => {
  it.live("delays no request by more than five seconds, however many wait for the same connections", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const relay = yield* relayed
      const behind = Object.assign(new URL(url), { port: String(relay.port) }).href
      const context = yield* postgresDatabase(settingsOf(behind, { connections: 2 }))
      yield* Effect.gen(function* () {
        yield* transaction(add("before"))
        // No connection is left, so that all have to be opened.
        relay.cut()
        relay.silent = true
        yield* Effect.promise(() => setTimeout(50))
        const lasted = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) =>
            Effect.zipRight(
              // Some arrive while the first still wait, and inherit what those leave.
              Effect.sleep(Duration.millis(index * 300)),
              asRequest(
                Effect.timed(
                  Effect.exit(
                    index % 2 === 0 ? Effect.asVoid(names) : Effect.zipRight(names, transaction(add(`late ${index}`)))
                  )
                )
              )
            ),
          { concurrency: "unbounded" }
        )
        for (const [duration, exit] of lasted) {
          assert.oneOf(tagOf(exit), ["DatabaseUnavailable", "DatabaseBusy"])
          assert.isBelow(Duration.toMillis(duration), 5_000)
        }
        relay.silent = false
        yield* Effect.repeat(Effect.exit(names), { until: ({ _tag }) => _tag === "Success" })
        assert.deepStrictEqual(yield* names, ["before"])
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})

describe("a start on a busy PostgreSQL", () => {
  it.live("waits for a statement that takes longer than those of requests may", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      // A row that the start reads in its first statements is held for longer than a request waits.
      yield* onServer(name, async (client) => {
        await client.query("BEGIN; LOCK TABLE instance IN ACCESS EXCLUSIVE MODE")
        const starting = Program.start({ SERVICE_DATABASE_URL: url })
        await setTimeout(12_000)
        await client.query("COMMIT")
        const program = await starting
        assert.notInclude(program.log, "starting again")
        // Requests have their own limit again.
        await client.query("BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")
        const start = performance.now()
        const token = `cst_${"a".repeat(43)}`
        const answer = await program.call("GET", "/api/auth/me", { token })
        assert.isBelow(performance.now() - start, 6_000)
        assert.oneOf(answer.status, [401, 503], answer.text)
        await client.query("COMMIT")
        await program.remove()
      })
    }).pipe(Effect.scoped)
  )
})
