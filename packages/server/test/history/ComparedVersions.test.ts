import { ComparedVersions, lengthClass } from "@coffer/server/secrets/services/ComparedVersions"
import type { Actor } from "@coffer/domain/access/Actor"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { account, entries, grant, key, organization, outcome, setSecret } from "../support/Services.js"
import { destroy, enterFor, onDamagedHistory, onHistory, rollback } from "./Support.js"

const compared = (actor: Actor, page: { readonly limit?: number; readonly before?: number } = {}) =>
  Effect.gen(function* () {
    const place = yield* enterFor(actor, "secret.compare")
    return yield* (yield* ComparedVersions).list(place, key("A"), page)
  }).pipe(Effect.provide(ComparedVersions.Default))

const factsOf = (actor: Actor, page = {}) =>
  Effect.map(compared(actor, page), (found) =>
    found.map(({ bytes_up_to, same, version }) => [version, same, bytes_up_to])
  )

describe("versions that are compared", () => {
  it.effect("are as the one before or not, of a length class, and without values, whatever the page", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["hunter2", "hunter2", "", "ü".repeat(9), "hunter3"]) yield* setSecret(ada, "A", text)
      yield* rollback(ada, "A", 4)
      const all = [
        [6, false, 32],
        [5, false, 8],
        [4, false, 32],
        [3, false, 0],
        [2, true, 8],
        [1, null, 8]
      ]
      assert.deepStrictEqual(yield* factsOf(ada), all)
      assert.notInclude(JSON.stringify(yield* compared(ada)), "hunter")
      const pages = yield* Effect.forEach([7, 5, 3], (before) => factsOf(ada, { before, limit: 2 }))
      assert.deepStrictEqual(pages.flat(), all)
      yield* destroy(ada, "A", [2])
      assert.deepStrictEqual((yield* factsOf(ada)).slice(3), [
        [3, null, 0],
        [2, null, undefined],
        [1, null, 8]
      ])
      assert.notInclude(JSON.stringify(yield* entries()), "secret.compare")
    }).pipe(onHistory)
  )

  it.effect(
    "are compared over more rows than one statement reads, and by any account with read, which is counted",
    () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        for (let version = 1; version <= 120; version++) yield* setSecret(ada, "A", String(Math.floor(version / 2)))
        const found = yield* compared(ada, { limit: 110 })
        assert.deepStrictEqual(
          found.map(({ same, version }) => same === (version % 2 === 1)),
          Array.from({ length: 110 }, () => true)
        )
        const blind = yield* account("blind", { reveal: false })
        assert.strictEqual(yield* outcome(compared(blind)), "Forbidden")
        yield* grant(blind, "read", { env: "prod" })
        assert.deepStrictEqual(yield* factsOf(blind, { limit: 1 }), [[120, false, 8]])
        for (let more = 1; more < 60; more++) yield* compared(blind, { limit: 1 })
        assert.strictEqual(yield* outcome(compared(blind, { limit: 1 })), "RateLimited")
        const recorded = (yield* entries()).filter(({ action }) => action === "secret.compare")
        assert.strictEqual(recorded.length, 60)
      }).pipe(onHistory)
  )

  it.effect("that do not decrypt hide no other", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two", "two", "two"]) yield* setSecret(ada, "A", text)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE secret_versions SET ciphertext = wrapped_key WHERE version = 2`
      assert.deepStrictEqual(
        (yield* factsOf(ada)).map(([version, same]) => [version, same]),
        [
          [4, true],
          [3, null],
          [2, null],
          [1, null]
        ]
      )
    }).pipe(onDamagedHistory)
  )

  it("have a class of length that says no more than a power of two", () => {
    assert.deepStrictEqual([0, 1, 8, 9, 16, 17, 65_535, 65_536].map(lengthClass), [0, 8, 8, 16, 16, 32, 65_536, 65_536])
  })
})
