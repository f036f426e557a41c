import { assert, describe, it } from "@effect/vitest"
import { entriesAnHour } from "@coffer/server/directory/login/UnknownLoginAudit"
import { Effect, TestClock } from "effect"
import { setTimeout } from "node:timers/promises"
import { entries } from "../support/Services.js"
import { exchange, start, withIssuer, world } from "./World.js"

const codeOf = (name: string, ip?: string) => Effect.map(Effect.flip(exchange("a.b.c", name, ip)), ({ code }) => code)

describe("strangers of many networks", { timeout: 120_000 }, () => {
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

describe("a caller with a valid token", { timeout: 120_000 }, () => {
  it.effect("exchanges it at most 600 times in 15 minutes for an account, from a network", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const token = yield* Effect.promise(() => signer.sign({ ...claims, exp: start + 3_600 }))
      for (let times = 0; times < 600; times++) yield* exchange(token)
      const refused = yield* Effect.flip(exchange(token))
      assert.strictEqual(refused.code, "RATE_LIMITED")
      assert.match(refused.message, /^too many tokens were exchanged for this account from this address: try again in/)
      yield* exchange(token, "acme/deploy", "198.51.100.1")
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
