import { type Actor, Authentication } from "@coffer/domain/Actor"
import { Admission, LargeAnswer } from "@coffer/domain/api/Requirement"
import { SessionId, UserId } from "@coffer/domain/Ids"
import { makeAdmission } from "@coffer/server/access/Admission"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Redacted, Schema } from "effect"
import { email } from "../support/Services.js"
import { servingContract } from "../support/Serving.js"

const large = HttpApiEndpoint.get("large", "/large")
  .addSuccess(Schema.String)
  .annotate(LargeAnswer, 1024)
  .middleware(Authentication)
const contract = HttpApi.make("test").add(HttpApiGroup.make("calls").add(large).middleware(Admission))

const ada: Actor = {
  type: "user",
  id: UserId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
  email: email("ada@example.com"),
  name: "ada",
  superadmin: false,
  sessionId: SessionId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
  loginIsRecent: true
}
const bob: Actor = { ...ada, id: UserId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2f"), email: email("bob@example.com") }
const asBob = (token: Redacted.Redacted) => Effect.succeed({ actor: Redacted.value(token) === "bob" ? bob : ada })
const anybody = Authentication.of({ session: asBob, apiKey: asBob, cookie: asBob })

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
