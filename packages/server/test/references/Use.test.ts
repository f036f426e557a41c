import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { entries, envPath, grant, outcome, removeSecret, setSecret, writeBundle } from "../support/Services.js"
import { agent, allow, ask, refusal, withUpstream, world } from "../use/World.js"
import { copy, refer, rollback, withMoves } from "./Scene.js"

const staging = { path: envPath("staging") }

/** The world of uses with a place to copy from, and an account that writes everywhere and may not reveal. */
const scene = Effect.gen(function* () {
  const { ada, bot, other } = yield* world()
  const blind = yield* agent("blind")
  yield* grant(blind, "write")
  return { ada, bot, blind, other }
})

describe("a use of a reference", () => {
  it.effect("sends the value that it leads to, and takes it and its parts out of the answer", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* scene
      yield* setSecret(ada, "PART", "part-of-the-value")
      yield* refer(ada, "STRIPE_KEY", "sk_${PART}")
      yield* ask(bot, { headers: {} })
      assert.include(JSON.stringify(other.arrived), "sk_part-of-the-value")
      const { body, scrubbed } = yield* ask(bot, { method: "POST", body: "it is part-of-the-value" })
      assert.isAbove(scrubbed, 0)
      assert.notInclude(body, "part-of-the-value")
      yield* removeSecret(ada, "PART", { force: true })
      assert.strictEqual(yield* refusal(bot), "USE_REFUSED STRIPE_KEY refers to PART, which does not exist")
    }).pipe(withMoves, withUpstream())
  )

  it.effect("is refused if the scrub would have to look for too much", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* scene
      const names = (prefix: string, count: number) =>
        Array.from({ length: count }, (_none, index) => `${prefix}_${index}`)
      const texts = (keys: ReadonlyArray<string>) => keys.map((name) => `\${${name}}`).join("")
      const all = names("PART", 70)
      yield* writeBundle(ada, { set: Object.fromEntries(all.map((name) => [name, `a part: ${name}`])) })
      yield* writeBundle(ada, {
        references: { ONE: texts(all.slice(0, 32)), TWO: texts(all.slice(32, 64)), STRIPE_KEY: texts(["ONE"]) }
      })
      yield* ask(bot)
      yield* refer(ada, "STRIPE_KEY", texts(["ONE", "TWO", ...all.slice(64)]))
      assert.match(yield* refusal(bot), /^USE_REFUSED .*made of more than 64 secrets/)

      // Texts of references count as well, however short the value is.
      const long = names("LONG_".padEnd(80, "X"), 32)
      yield* writeBundle(ada, { set: Object.fromEntries(long.map((name) => [name, ""])) })
      const templates = names("TEMPLATE", 14)
      yield* writeBundle(ada, { references: Object.fromEntries(templates.map((name) => [name, texts(long)])) })
      yield* refer(ada, "STRIPE_KEY", `long enough ${texts(templates)}`)
      assert.match(yield* refusal(bot), /^USE_REFUSED .*of more than 32 KiB of them/)
      assert.strictEqual(other.arrived.length, 1)
    }).pipe(withMoves, withUpstream())
  )

  it.effect("needs use on every environment that the reference passes", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      const bounded = yield* agent("bounded")
      yield* grant(bounded, "use", { env: "prod" })
      yield* allow({ accounts: ["bounded"] })
      yield* setSecret(ada, "PART", "part-of-the-value", staging)
      yield* refer(ada, "STRIPE_KEY", "${staging:PART}")
      assert.strictEqual(
        yield* refusal(bounded),
        "USE_REFUSED STRIPE_KEY refers to staging:PART, and this needs use on environment staging"
      )
      yield* grant(bounded, "use", { env: "staging" })
      assert.strictEqual((yield* ask(bounded)).status, 200)
      assert.deepStrictEqual(
        (yield* entries()).flatMap(({ action, metadata, resource_type }) =>
          action === "secret.use" && resource_type === "env" ? [metadata] : []
        ),
        [{ project: "webshop", env: "staging", keys: [{ key: "PART", version: 1 }], referred_from: "prod" }]
      )
    }).pipe(withMoves, withUpstream())
  )
})

describe("an account that may not reveal", () => {
  it.effect("refers to no value from a secret with wider use rules, over however many references", () =>
    Effect.gen(function* () {
      const { ada, blind } = yield* scene
      yield* setSecret(ada, "OTHER", "another value")
      assert.strictEqual(yield* outcome(refer(blind, "STRIPE_KEY", "${OTHER}")), "UseWidens")
      yield* setSecret(ada, "MIDDLE", "nothing")
      yield* refer(ada, "STRIPE_KEY", "${MIDDLE}")
      assert.strictEqual(
        yield* outcome(refer(blind, "MIDDLE", "${OTHER}")),
        "UseWidens",
        "STRIPE_KEY would be that value"
      )
      yield* allow({}, "OTHER")
      yield* refer(blind, "MIDDLE", "${OTHER}")
    }).pipe(withMoves, withUpstream())
  )

  it.effect("moves no value to where a secret with wider use rules refers", () =>
    Effect.gen(function* () {
      const { ada, blind } = yield* scene
      yield* setSecret(ada, "MIDDLE", "first")
      yield* setSecret(ada, "MIDDLE", "second")
      yield* refer(ada, "STRIPE_KEY", "${MIDDLE}")
      yield* setSecret(ada, "MIDDLE", "of staging", staging)
      assert.strictEqual(yield* outcome(copy(blind, "staging", "prod", ["MIDDLE"])), "UseWidens")
      assert.strictEqual(yield* outcome(rollback(blind, "MIDDLE", 1)), "UseWidens")
      yield* removeSecret(ada, "MIDDLE", { force: true })
      assert.strictEqual(
        yield* outcome(copy(blind, "staging", "prod", ["MIDDLE"])),
        "UseWidens",
        "STRIPE_KEY still refers there"
      )
      yield* copy(ada, "staging", "prod", ["MIDDLE"])
    }).pipe(withMoves, withUpstream())
  )
})
