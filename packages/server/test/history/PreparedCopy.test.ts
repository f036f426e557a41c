import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  envPath,
  key,
  listSecrets,
  organization,
  readSecret,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"
import { enterFor, onHistory } from "./Support.js"

const [source, target] = [envPath("staging"), envPath("prod")]
const large = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`KEY_${index}`, `value ${index}`]))

/** An owner with 60 secrets to copy, of which the target has one with an equal and one with another value. */
const scene = Effect.gen(function* () {
  const ada = yield* organization()
  yield* writeBundle(ada, { set: large }, { path: source })
  yield* writeBundle(ada, { set: { KEY_1: "value 1", KEY_2: "other" } }, { path: target })
  const promotion = yield* Promotion
  const ends = Effect.all({
    to: enterFor(ada, "secret.write", target),
    from: enterFor(ada, "secret.copy", source)
  })
  const { from, to } = yield* ends
  const copy = (
    request: Parameters<typeof promotion.copy>[2],
    meanwhile: ReturnType<typeof setSecret> | Effect.Effect<void> = Effect.void
  ) =>
    Effect.gen(function* () {
      const prepared = yield* promotion.prepare(ends, request)
      yield* meanwhile
      const { written } = yield* transaction(promotion.copy(to, from, request, undefined, prepared))
      const changes = new Map(written.data.map(({ change, key }) => [String(key), change]))
      return { changes, isPrepared: prepared !== null }
    })
  return { ada, copy }
})

const valueAt = (actor: Parameters<typeof readSecret>[0], name: string) =>
  Effect.map(readSecret(actor, name, { path: target }), ({ value }) => value)

describe("a large copy encrypted before its transaction", () => {
  it.effect("writes each value that differs", () =>
    Effect.gen(function* () {
      const { ada, copy } = yield* scene
      const { changes, isPrepared } = yield* copy({})
      assert.isTrue(isPrepared)
      assert.deepStrictEqual(
        [changes.get("KEY_0"), changes.get("KEY_1"), changes.get("KEY_2")],
        ["created", "unchanged", "updated"]
      )
      for (const [name, value] of Object.entries(large)) assert.strictEqual(yield* valueAt(ada, name), value)
      assert.strictEqual((yield* listSecrets(ada, target)).length, 60)
    }).pipe(onHistory)
  )

  it.effect("is planned again if the source or the target changes before it", () =>
    Effect.gen(function* () {
      const { ada, copy } = yield* scene
      yield* copy({}, setSecret(ada, "KEY_3", "newer", { path: source }))
      assert.strictEqual(yield* valueAt(ada, "KEY_3"), "newer")
      const { changes } = yield* copy({}, setSecret(ada, "KEY_3", "of the target", { path: target }))
      assert.strictEqual(changes.get("KEY_3"), "updated")
      assert.strictEqual(yield* valueAt(ada, "KEY_3"), "newer")
    }).pipe(onHistory)
  )

  it.effect("writes nothing in a dry run, and a small one is not prepared", () =>
    Effect.gen(function* () {
      const { ada, copy } = yield* scene
      const { changes, isPrepared } = yield* copy({ dry_run: true })
      assert.isTrue(isPrepared)
      assert.strictEqual(changes.get("KEY_0"), "created")
      assert.strictEqual((yield* listSecrets(ada, target)).length, 2)
      assert.isFalse((yield* copy({ keys: [key("KEY_0")] })).isPrepared)
    }).pipe(onHistory)
  )
})
