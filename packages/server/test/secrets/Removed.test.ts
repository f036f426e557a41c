import type { Actor } from "@coffer/domain/access/Actor"
import { History } from "@coffer/server/secrets/services/History"
import { RemovedSecrets } from "@coffer/server/secrets/services/RemovedSecrets"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  enter,
  envPath,
  grant,
  key,
  member,
  onDatabase,
  organization,
  outcome,
  removeSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const withRemoved = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.provide(Layer.mergeAll(RemovedSecrets.Default, History.Default)), onDatabase())

type Request = Parameters<RemovedSecrets["list"]>[1]

const removedIn = (actor: Actor, request: Request = {}, path = envPath()) =>
  Effect.gen(function* () {
    return yield* (yield* RemovedSecrets).list(yield* enter(actor, "secret.list", path), request)
  })

const keysOf = (actor: Actor, request: Request = {}) =>
  Effect.map(removedIn(actor, request), ({ data }) => data.map((one) => one.key))

const undelete = (actor: Actor, name: string) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enter(actor, "secret.write")
      return yield* (yield* History).undelete(place, key(name))
    })
  )

describe("the list of removed secrets", () => {
  it.effect("says who removed each, when, and at which version", () =>
    withRemoved(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "write")
        for (const name of ["A", "B", "KEPT"]) yield* setSecret(ada, name, "x")
        yield* setSecret(ada, "B", "y")
        assert.deepStrictEqual(yield* keysOf(ada), [])
        yield* removeSecret(ada, "A")
        yield* removeSecret(bob, "B")
        const { data, pagination } = yield* removedIn(ada)
        assert.deepStrictEqual(
          data.map(({ key: name, removed_by, version }) => [name, version, removed_by]),
          [
            ["A", 1, "ada@example.com"],
            ["B", 2, "bob@example.com"]
          ]
        )
        assert.isString(data[0]?.removed_at)
        assert.deepStrictEqual(pagination, { limit: 100, has_next: false, next_cursor: null })
      })
    )
  )

  it.effect("holds what can be undeleted, and nothing else: once per key, and only while the key is free", () =>
    withRemoved(
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const text of ["1", "2", "3"]) {
          yield* setSecret(ada, "OFTEN", text)
          yield* removeSecret(ada, "OFTEN")
        }
        yield* setSecret(ada, "AGAIN", "x")
        yield* removeSecret(ada, "AGAIN")
        yield* setSecret(ada, "AGAIN", "y")
        assert.deepStrictEqual(yield* keysOf(ada), [key("OFTEN")])
        yield* undelete(ada, "OFTEN")
        assert.deepStrictEqual(yield* keysOf(ada), [])
        yield* removeSecret(ada, "AGAIN")
        assert.deepStrictEqual(yield* keysOf(ada), [key("AGAIN")])
        yield* removeSecret(ada, "OFTEN")
        for (const name of yield* keysOf(ada)) yield* undelete(ada, name)
        assert.deepStrictEqual(yield* keysOf(ada), [])
      })
    )
  )

  it.effect("comes in pages of any size, also where new secrets have many of the keys", () =>
    withRemoved(
      Effect.gen(function* () {
        const ada = yield* organization()
        const names = Array.from({ length: 130 }, (_, index) => `K_${String(index).padStart(3, "0")}`)
        for (const name of names) {
          yield* setSecret(ada, name, "x")
          yield* removeSecret(ada, name)
        }
        for (const name of names.slice(0, 110)) yield* setSecret(ada, name, "y")
        for (const limit of [1, 7, 20, 100]) {
          const found: Array<string> = []
          for (let after: string | null | undefined = undefined; after !== null;) {
            const page: Effect.Effect.Success<ReturnType<typeof removedIn>> = yield* removedIn(ada, {
              limit,
              ...(after !== undefined && { after })
            })
            assert.isAtMost(page.data.length, limit)
            found.push(...page.data.map((one) => one.key))
            after = page.pagination.next_cursor
          }
          assert.deepStrictEqual(found, names.slice(110), `pages of ${limit}`)
        }
      })
    )
  )

  it.effect("tells of one key whether it was removed, or never was", () =>
    withRemoved(
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const name of ["GONE", "GONE_2", "LIVE"]) yield* setSecret(ada, name, "x")
        for (const name of ["GONE", "GONE_2"]) yield* removeSecret(ada, name)
        assert.deepStrictEqual(yield* keysOf(ada, { key: key("GONE") }), [key("GONE")])
        for (const name of ["LIVE", "NEVER", "GONE_"]) {
          assert.deepStrictEqual(yield* keysOf(ada, { key: key(name) }), [])
        }
      })
    )
  )

  it.effect("is of one environment, and needs the right to list its keys", () =>
    withRemoved(
      Effect.gen(function* () {
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read", { env: "dev" })
        yield* setSecret(ada, "A", "x")
        yield* removeSecret(ada, "A")
        assert.deepStrictEqual((yield* removedIn(bob, {}, envPath("dev"))).data, [])
        assert.strictEqual(yield* outcome(removedIn(bob)), "Forbidden")
      })
    )
  )
})
