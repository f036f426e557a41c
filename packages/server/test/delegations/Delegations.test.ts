import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { pause } from "@coffer/server/base/EventLoop"
import { Delegations } from "@coffer/server/directory/delegations/Delegations"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { entries, onDatabase, organization, outcome, person, setSecret } from "../support/Services.js"
import { delegate, identified } from "./Support.js"

const hour = 60 * 60 * 1000
const born = Date.UTC(2026, 0, 1)

const services = Layer.mergeAll(Authenticator.Default, Delegations.Default, Maintenance.Default)

describe("a delegation", () => {
  it.effect("ends at its time or at the server's limit, also one that was made under a longer limit", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      yield* organization()
      const ada = yield* person("ada@example.com")
      yield* setSecret(ada, "A", "a")
      const short = yield* delegate(ada, { expires_in: 3_600 })
      const long = yield* delegate(ada, { expires_in: 2 * 3_600 })
      const { list } = yield* Delegations
      // As a server had made it whose limit was a day.
      yield* (yield* SqlClient.SqlClient)`
        UPDATE delegations SET expires_at = ${born + 24 * hour} WHERE id = ${long.id}`
      assert.deepStrictEqual((yield* list(ada)).map(({ expires_at }) => expires_at).sort(), [
        "2026-01-01T01:00:00.000Z",
        "2026-01-01T02:00:00.000Z"
      ])
      const { actor } = yield* identified(long)
      assert.strictEqual(actor.type === "user" && actor.delegation?.expiresAt, "2026-01-01T02:00:00.000Z")
      yield* TestClock.setTime(born + hour - 1)
      assert.strictEqual(yield* outcome(identified(short)), "success")
      yield* TestClock.setTime(born + hour)
      assert.strictEqual(yield* outcome(identified(short)), "Unauthorized")
      assert.strictEqual((yield* list(ada)).length, 1)
      yield* TestClock.setTime(born + 2 * hour - 1)
      assert.strictEqual(yield* outcome(identified(long)), "success")
      yield* TestClock.setTime(born + 2 * hour)
      assert.strictEqual(yield* outcome(identified(long)), "Unauthorized")
      assert.deepStrictEqual(yield* list(ada), [])
      // A longer limit must not bring it back.
      yield* (yield* Maintenance).sweep
      assert.deepStrictEqual(yield* (yield* SqlClient.SqlClient)`SELECT id FROM delegations`, [])
      assert.strictEqual(yield* outcome(delegate(ada, { expires_in: 2 * 3_600 + 1 })), "ValidationError")
    }).pipe(Effect.provide(services), onDatabase({ SERVICE_DELEGATION_MAX_HOURS: "2" }))
  )

  it.effect("is stored as the hash of its token, with its last use, and goes when it has ended", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(born)
      yield* organization()
      const ada = yield* person("ada@example.com")
      yield* setSecret(ada, "A", "a")
      const made = yield* delegate(ada, { expires_in: 3_600, permission: "use", reveal: true })
      assert.isFalse(made.reveal, "use never reveals")
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ token_hash: string }>`SELECT token_hash FROM delegations`
      assert.match(row?.token_hash ?? "", /^[0-9a-f]{64}$/)
      const { list } = yield* Delegations
      assert.strictEqual((yield* list(ada))[0]?.last_used_at, null)
      yield* identified(made)
      yield* Effect.repeat(Effect.zipRight(pause(5), list(ada)), { until: ([one]) => one?.last_used_at !== null })
      assert.strictEqual((yield* list(ada))[0]?.last_used_at, "2026-01-01T00:00:00.000Z")
      const { sweep } = yield* Maintenance
      yield* TestClock.setTime(born + hour - 1)
      yield* sweep
      assert.strictEqual((yield* sql`SELECT id FROM delegations`).length, 1)
      yield* TestClock.setTime(born + hour)
      yield* sweep
      assert.strictEqual((yield* sql`SELECT id FROM delegations`).length, 0)
      assert.include(
        (yield* entries()).map(({ action }) => action),
        "delegation.create"
      )
    }).pipe(Effect.provide(services), onDatabase())
  )
})
