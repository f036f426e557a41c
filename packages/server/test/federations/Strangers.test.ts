import { assert, describe, it } from "@effect/vitest"
import { entriesAnHour } from "@coffer/server/directory/login/StrangersEntries"
import { Effect, TestClock } from "effect"
import { setTimeout } from "node:timers/promises"
import { entries } from "../support/Services.js"
import { exchange, withIssuer, world } from "./World.js"

const codeOf = (name: string, ip?: string) => Effect.map(Effect.flip(exchange("a.b.c", name, ip)), ({ code }) => code)

describe("strangers of many networks", () => {
  it.effect("write at most 60 entries an hour about an account, and one that counts the rest", () =>
    Effect.gen(function* () {
      yield* world
      const about = Effect.map(entries("acme"), (found) => found.filter(({ action }) => action === "auth.federate"))
      const attempts = entriesAnHour + 40
      for (let index = 0; index < attempts; index++) yield* codeOf("acme/deploy", `198.51.100.${index}`)
      const before = yield* about
      assert.lengthOf(before, entriesAnHour)
      yield* TestClock.adjust("1 hour")
      const after = yield* about.pipe(
        Effect.zipLeft(Effect.promise(() => setTimeout(1))),
        Effect.repeat({ until: (found) => found.length > before.length, times: 2_000 })
      )
      assert.deepStrictEqual(
        after.slice(before.length).map(({ actor, metadata }) => ({ actor, metadata })),
        [{ actor: "deploy", metadata: { attempts: 40 } }]
      )
    }).pipe(withIssuer)
  )
})

describe("a stranger who names one account after another", () => {
  it.effect("waits after 300 refused tokens, whatever account is next; other networks do not", () =>
    Effect.gen(function* () {
      yield* world
      for (let index = 0; index < 300; index++) assert.strictEqual(yield* codeOf(`acme/none-${index}`), "UNAUTHORIZED")
      assert.strictEqual(yield* codeOf("acme/none"), "RATE_LIMITED")
      assert.strictEqual(yield* codeOf("acme/deploy"), "RATE_LIMITED", "one that is there: it tells nothing apart")
      assert.strictEqual(yield* codeOf("acme/none", "198.51.100.1"), "UNAUTHORIZED")
    }).pipe(withIssuer)
  )
})
