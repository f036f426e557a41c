import { decryptionFailures } from "@coffer/server/keys/Keyring"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, TestClock } from "effect"
import { logged } from "../support/Logged.js"
import {
  entries,
  onDamagedDatabase,
  organization,
  outcome,
  raw,
  readBundle,
  readSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"

const failures = Effect.map(Metric.value(decryptionFailures), ({ count }) => count)

const recorded = Effect.map(entries(), (all) => all.filter(({ action }) => action === "secret.decryption_failed"))

describe("a secret that does not decrypt", () => {
  const damages = {
    ciphertext: "UPDATE secret_versions SET ciphertext = zeroblob(length(ciphertext))",
    "data key": "UPDATE secret_versions SET wrapped_key = zeroblob(length(wrapped_key))"
  }
  for (const [what, damage] of Object.entries(damages)) {
    it.effect(`because of its ${what} is recorded, logged as an error and counted, each loop of reads once`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", "canary-4711")
        ;(yield* raw).exec(damage)
        const before = yield* failures
        for (let n = 0; n < 5; n++) assert.strictEqual(yield* outcome(readSecret(ada, "A")), "DecryptionFailed")
        assert.strictEqual(yield* outcome(readBundle(ada)), "DecryptionFailed")
        assert.strictEqual((yield* failures) - before, 6)
        const [entry, ...rest] = yield* recorded
        assert.lengthOf(rest, 0)
        const id = String(entry?.resource_id)
        assert.deepInclude(entry, {
          actor: "ada@example.com",
          resource_type: "secret",
          metadata: { project: "webshop", env: "prod", key: "A", version: 1 }
        })
        const errors = lines.filter((line) => line.startsWith("ERROR"))
        assert.lengthOf(errors, 1)
        assert.match(errors[0]!, new RegExp(`secret ${id}, version 1`))
        assert.notInclude(lines.join(), "canary")

        yield* TestClock.adjust("10 minutes")
        yield* outcome(readSecret(ada, "A"))
        assert.lengthOf(yield* recorded, 2, "again after ten minutes")
      }).pipe(onDamagedDatabase(), Effect.provide(layer))
    })
  }

  it.effect("is recorded too when a write replaces it", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      ;(yield* raw).exec(damages.ciphertext)
      yield* writeBundle(ada, { set: { A: "x" } })
      assert.lengthOf(yield* recorded, 1)
      assert.strictEqual((yield* readSecret(ada, "A")).version, 2)
    }).pipe(onDamagedDatabase())
  )
})
