import type { UserActor } from "@coffer/domain/access/Actor"
import { decryptionFailures } from "@coffer/server/keys/Keyring"
import { History } from "@coffer/server/secrets/services/History"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, TestClock } from "effect"
import { destroying, revert, rollback, undelete } from "../history/Support.js"
import { logged } from "../support/Logged.js"
import {
  entries,
  enter,
  envPath,
  key,
  listSecrets,
  onDamagedDatabase,
  organization,
  outcome,
  readBundle,
  readSecret,
  removeSecret,
  type Services,
  setSecret,
  writeBundle
} from "../support/Services.js"

const failures = Effect.map(Metric.value(decryptionFailures), ({ count }) => count)

const recorded = Effect.map(entries(), (all) => all.filter(({ action }) => action === "secret.decryption_failed"))

/** That the one entry and the one error line of a secret name its version. */
const assertReportedOnce = (lines: ReadonlyArray<string>, version: number) =>
  Effect.gen(function* () {
    const [entry, ...rest] = yield* recorded
    assert.lengthOf(rest, 0)
    assert.deepInclude(entry, {
      actor: "ada@example.com",
      resource_type: "secret",
      metadata: { project: "webshop", env: "prod", key: "A", version }
    })
    const errors = lines.filter((line) => line.startsWith("ERROR"))
    assert.lengthOf(errors, 1)
    assert.match(errors[0]!, new RegExp(`secret ${String(entry?.resource_id)}, version ${version}`))
  })

describe("a secret that does not decrypt", () => {
  const damages = {
    ciphertext: "UPDATE secret_versions SET ciphertext = wrapped_key",
    "data key": "UPDATE secret_versions SET wrapped_key = ciphertext"
  }
  for (const [what, damage] of Object.entries(damages)) {
    it.effect(`because of its ${what} is recorded, logged as an error and counted, each loop of reads once`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", "canary-4711")
        yield* (yield* SqlClient.SqlClient).unsafe(damage)
        const before = yield* failures
        for (let n = 0; n < 5; n++) assert.strictEqual(yield* outcome(readSecret(ada, "A")), "DecryptionFailed")
        assert.strictEqual(yield* outcome(readBundle(ada)), "DecryptionFailed")
        assert.strictEqual((yield* failures) - before, 6)
        yield* assertReportedOnce(lines, 1)
        assert.notInclude(lines.join(), "canary")

        yield* TestClock.adjust("10 minutes")
        yield* outcome(readSecret(ada, "A"))
        assert.lengthOf(yield* recorded, 2, "again after ten minutes")
      }).pipe(onDamagedDatabase(), Effect.provide(layer))
    })
  }

  it.effect("fails only the values that refer to it, in a bundle of another environment", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x", { path: envPath("staging") })
      yield* writeBundle(ada, { set: { B: "b" } })
      yield* setSecret(ada, "C", "${staging:A}", { kind: "reference" })
      yield* (yield* SqlClient.SqlClient).unsafe(
        "UPDATE secret_versions SET ciphertext = wrapped_key WHERE secret_id IN (SELECT id FROM secrets WHERE key = 'A')"
      )
      const { data, errors } = yield* readBundle(ada)
      assert.deepStrictEqual(
        data?.map(({ value }) => value),
        ["b"]
      )
      assert.deepStrictEqual(
        errors?.map(({ message }) => message),
        ["C refers to staging:A, which does not authenticate: it was altered"]
      )
      assert.deepInclude((yield* recorded)[0], {
        metadata: { project: "webshop", env: "staging", key: "A", version: 1 }
      })
    }).pipe(onDamagedDatabase())
  )

  it.effect("is recorded too when a write replaces it", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      yield* (yield* SqlClient.SqlClient).unsafe(damages.ciphertext)
      yield* writeBundle(ada, { set: { A: "x" } })
      assert.lengthOf(yield* recorded, 1)
      assert.strictEqual((yield* readSecret(ada, "A")).version, 2)
    }).pipe(onDamagedDatabase())
  )
})

describe("a secret that was set back in the file", () => {
  type Call = (ada: UserActor) => Effect.Effect<unknown, { readonly _tag: string }, Services | History | Revisions>
  const calls: Readonly<Record<string, Call>> = {
    "reads it": (ada) => readSecret(ada, "A"),
    "reads its bundle": (ada) => readBundle(ada),
    "lists the secrets": (ada) => listSecrets(ada),
    "lists its versions": (ada) =>
      Effect.flatMap(enter(ada, "secret.list"), (place) =>
        Effect.flatMap(History, (history) => history.versions(place, key("A"), {}))
      ),
    "sets it": (ada) => setSecret(ada, "A", "new"),
    "removes it": (ada) => removeSecret(ada, "A"),
    "writes it in a bundle": (ada) => writeBundle(ada, { set: { A: "new" } }),
    "tries a bundle": (ada) => writeBundle(ada, { delete: ["A"], dry_run: true }),
    "rolls it back": (ada) => rollback(ada, "A", 1),
    "destroys a version": (ada) => destroying(ada, "A", [1]),
    "reverts its environment": (ada) => revert(ada, 1)
  }
  for (const [what, call] of Object.entries(calls)) {
    it.effect(`is recorded, logged as an error and counted when somebody ${what}, each loop once`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const ada = yield* organization()
        for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
        yield* (yield* SqlClient.SqlClient).unsafe("UPDATE secrets SET version = 2")
        const before = yield* failures
        for (let n = 0; n < 3; n++) {
          assert.strictEqual(yield* outcome(call(ada)), "DecryptionFailed")
        }
        assert.strictEqual((yield* failures) - before, 3)
        yield* assertReportedOnce(lines, 2)
      }).pipe(
        Effect.provide(Layer.merge(History.Default, Revisions.Default)),
        onDamagedDatabase(),
        Effect.provide(layer)
      )
    })
  }

  it.effect("is recorded when it is undeleted", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two"]) yield* setSecret(ada, "A", text)
      yield* removeSecret(ada, "A")
      yield* (yield* SqlClient.SqlClient).unsafe("UPDATE secrets SET version = 1")
      assert.strictEqual(yield* outcome(undelete(ada, "A")), "DecryptionFailed")
      assert.deepInclude((yield* recorded)[0], {
        metadata: { project: "webshop", env: "prod", key: "A", version: 1 }
      })
    }).pipe(Effect.provide(History.Default), onDamagedDatabase())
  )
})
