import { Outbound } from "@coffer/server/base/outbound/Outbound"
import { sharedBounds } from "@coffer/server/base/SharedBounds"
import { Tenant } from "@coffer/server/base/Tenant"
import { callMillis, makePlatformCalls } from "@coffer/server/secrets/delivery/PlatformCalls"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { githubPlatform } from "./platforms/GithubPlatform.js"
import { StandIn } from "./platforms/StandIn.js"
import { withPlatform } from "./World.js"

const standIn = (delayMillis: number) =>
  Effect.acquireRelease(
    Effect.promise(() => StandIn.start(githubPlatform("/repos/acme/webshop/actions/secrets"), delayMillis)),
    (made) => Effect.promise(() => made.stop())
  )

const of = (name: string) => Effect.provideService(Tenant, { name })

const path = "/repos/acme/webshop/actions/secrets"

describe("a platform that does not respond", () => {
  it.scopedLive("is given up after ten seconds, and leaves half of the calls to other tenants", () =>
    Effect.gen(function* () {
      const [silent, quick] = yield* Effect.all([standIn(600_000), standIn(0)])
      quick.before = () => ({ status: 200, json: { total_count: 0, secrets: [] } })
      const ask = yield* makePlatformCalls
      const share = sharedBounds.pushes.total / 2
      const begun = performance.now()
      const waiting = yield* Effect.forEach(Array.from({ length: share + 8 }), () =>
        Effect.fork(of("slow")(Effect.flip(ask({ url: `${silent.url}${path}` }))))
      )
      while (silent.arrived.length < share) yield* Effect.sleep("20 millis")
      for (let call = 0; call < 20; call++) yield* of("other")(ask({ url: `${quick.url}${path}` }))
      assert.strictEqual(silent.arrived.length, share, "the tenant's other calls wait for these")
      assert.isTrue(waiting.every((fiber) => fiber.unsafePoll() === null))
      const { isUndone, reason } = yield* Fiber.join(waiting[0]!)
      assert.isAtLeast(performance.now() - begun, callMillis - 100)
      assert.deepStrictEqual([reason, isUndone], ["there was no complete response in time", false])
      while (silent.arrived.length < share + 8) yield* Effect.sleep("20 millis")
    }).pipe(Effect.provide(Outbound.Default), withPlatform)
  )
})
