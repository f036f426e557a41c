import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { leasedUser } from "@coffer/server/secrets/connections/Kind"
import { Leases } from "@coffer/server/secrets/leases/Leases"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { pageProgram } from "../support/HttpProgram.js"
import { outcome } from "../support/Services.js"
import { beginLease, createRole, lease, leasing, list, renew, revoke, round, withLeases } from "./World.js"

describe("a lease by the program of the page", () => {
  it.live("is made, renewed and removed, and its name never comes back", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* leasing(yield* pageProgram)
      const { admits, target } = database
      yield* createRole(ada, { create: ["readers"] })
      assert.strictEqual(yield* outcome(createRole(ada, { create: ["{{password}}"] })), "ValidationError")
      const made = yield* lease(ada, { ttl: "30m" })
      const admitted = Effect.promise(() => admits(made.username, Redacted.value(made.password)))
      assert.isTrue(yield* admitted)
      assert.deepStrictEqual(yield* kinds.http.leased(target), [made.username])
      yield* renew(ada, made.id)
      yield* revoke(ada, made.id)
      yield* round
      assert.isFalse(yield* admitted)
      assert.deepStrictEqual([yield* list(ada), yield* kinds.http.leased(target)], [[], []])
      const again = { name: made.username, password: made.password, millis: 60_000 }
      const checks = { isWanted: Effect.void, confirm: Effect.void }
      assert.strictEqual((yield* Effect.flip(kinds.http.create(target, again, [], checks))).reason, "statement refused")
    }).pipe(withLeases())
  )

  it.live("leaves no user if it is ended while the program makes it", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* leasing(yield* pageProgram)
      yield* createRole(ada)
      const { begun, place } = yield* beginLease(ada)
      if (!("row" in begun)) return assert.fail("it was repeated")
      yield* revoke(ada, begun.row.id)
      assert.strictEqual(yield* outcome((yield* Leases).finish(place, begun)), "Conflict")
      assert.deepStrictEqual(yield* kinds.http.leased(database.target), [])
      const late = leasedUser("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce")
      const failed = kinds.http.create(
        database.target,
        { name: late, password: Redacted.make("canary-lease"), millis: 60_000 },
        [],
        {
          isWanted: Effect.void,
          confirm: Effect.fail("the row has gone")
        }
      )
      assert.strictEqual(yield* Effect.flip(failed), "the row has gone")
      assert.deepStrictEqual(yield* kinds.http.leased(database.target), [])
    }).pipe(withLeases())
  )
})
