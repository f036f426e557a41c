import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchange, withIssuer, world } from "./World.js"

const codeOf = (name: string, ip?: string) => Effect.map(Effect.flip(exchange("a.b.c", name, ip)), ({ code }) => code)

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
