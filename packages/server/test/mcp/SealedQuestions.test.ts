import { Keyring } from "@coffer/server/keys/Keyring"
import { makeSealedQuestions } from "@coffer/server/edges/mcp/SealedQuestions"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Runtime, TestClock } from "effect"
import { onDatabase, person, raw } from "../support/Services.js"

const question = { kind: "approve", about: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8" } as const

const world = Effect.gen(function* () {
  const ada = yield* person("ada@example.com")
  const run = Runtime.runPromise(yield* Effect.runtime())
  const questionsOf = yield* makeSealedQuestions
  return { ada, run, questionsOf, questions: questionsOf(ada, run) }
})

describe("the state of a question", () => {
  it.effect("opens for five minutes", () =>
    Effect.gen(function* () {
      const { questions } = yield* world
      const early = yield* Effect.promise(() => questions.ask("call", question))
      const late = yield* Effect.promise(() => questions.ask("call", question))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* Effect.promise(() => questions.redeem("call", early)), question)
      yield* TestClock.adjust("1 millis")
      assert.isNull(yield* Effect.promise(() => questions.redeem("call", late)))
    }).pipe(onDatabase())
  )

  it.effect("is used once, also by a process that begins afterwards, and when the clock goes back", () =>
    Effect.gen(function* () {
      const { ada, questions, run } = yield* world
      const state = yield* Effect.promise(() => questions.ask("call", question))
      assert.isNull(yield* Effect.promise(() => questions.redeem("another call", state)))
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* Effect.promise(() => questions.redeem("call", state)), question)
      yield* TestClock.setTime(0)
      const later = (yield* makeSealedQuestions)(ada, run)
      assert.isNull(yield* Effect.promise(() => later.redeem("call", state)))
    }).pipe(onDatabase())
  )

  it.effect("opens with the master key of its server alone", () =>
    Effect.gen(function* () {
      const { ada, questions, run } = yield* world
      const state = yield* Effect.promise(() => questions.ask("call", question))
      const { loginCodeKey, ...keys } = yield* Keyring
      const foreign = { ...keys, loginCodeKey, loginFlowKey: loginCodeKey }
      const others = yield* Effect.provideService(makeSealedQuestions, Keyring, foreign)
      assert.isNull(yield* Effect.promise(() => others(ada, run).redeem("call", state)))
      assert.deepStrictEqual((yield* raw).prepare("SELECT count(*) AS used FROM rate_events").get(), { used: 0 })
    }).pipe(onDatabase())
  )
})
