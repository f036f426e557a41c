import { Authentication } from "@coffer/domain/access/Actor"
import { Admission, LargeResponse } from "@coffer/domain/api/Requirement"
import { makeAdmission } from "@coffer/server/access/Admission"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Schema } from "effect"
import { anybody } from "../support/Anybody.js"
import { servingContract } from "../support/Serving.js"

const large = HttpApiEndpoint.get("large", "/large")
  .addSuccess(Schema.String)
  .annotate(LargeResponse, 1024 * 1024)
  .middleware(Authentication)
const contract = HttpApi.make("test").add(HttpApiGroup.make("calls").add(large).middleware(Admission))

describe("what a request holds", () => {
  it.live("is given back when the access log fails", () =>
    Effect.gen(function* () {
      let isBroken = true
      const handlers = HttpApiBuilder.group(contract, "calls", (group) =>
        group.handle("large", () => Effect.succeed("large"))
      )
      const { port } = yield* servingContract(
        HttpApiBuilder.api(contract).pipe(
          Layer.provide(handlers),
          Layer.provide(Layer.succeed(Authentication, anybody))
        ),
        Layer.effect(Admission, makeAdmission(contract)),
        undefined,
        () => {
          if (isBroken) throw new Error("the log is broken")
        }
      )
      const ask = Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/large`, { signal: AbortSignal.timeout(2_000) }).then(
          ({ status }) => status,
          (error: unknown) => String(error)
        )
      )
      assert.include(String(yield* ask), "fetch failed")
      isBroken = false
      assert.strictEqual(yield* ask, 200)
    }).pipe(Effect.scoped)
  )

  it.live("is one large response of a caller: those of others are built meanwhile", () =>
    Effect.gen(function* () {
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let isFirst = true
      const handlers = HttpApiBuilder.group(contract, "calls", (group) =>
        group.handle("large", () =>
          Effect.suspend(() => {
            if (!isFirst) return Effect.succeed("large")
            isFirst = false
            return Effect.zipRight(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(end), "late"))
          })
        )
      )
      const { port } = yield* servingContract(
        HttpApiBuilder.api(contract).pipe(
          Layer.provide(handlers),
          Layer.provide(Layer.succeed(Authentication, anybody))
        ),
        Layer.effect(Admission, makeAdmission(contract))
      )
      const order: Array<string> = []
      const ask = async (name: string) => {
        const response = await fetch(`http://127.0.0.1:${port}/large`, { headers: { authorization: `Bearer ${name}` } })
        order.push(`${name} ${(await response.json()) as string}`)
      }
      const first = ask("ada")
      yield* Deferred.await(begun)
      const others = [ask("ada"), ask("ada")]
      yield* Effect.promise(() => ask("bob"))
      assert.deepStrictEqual(order, ["bob large"])
      yield* Deferred.succeed(end, undefined)
      yield* Effect.promise(() => Promise.all([first, ...others]))
      assert.sameMembers(order, ["bob large", "ada late", "ada large", "ada large"])
    }).pipe(Effect.scoped)
  )
})
