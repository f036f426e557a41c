import { Database } from "@coffer/server/database/Database"
import { Keyring } from "@coffer/server/keys/Keyring"
import { rotate } from "@coffer/server/operations/rotation/Rotation"
import { maxWraps, WrapBudget } from "@coffer/server/keys/WrapBudget"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { logged } from "../support/Logged.js"
import {
  freshPath,
  masterKey,
  onDamagedDatabase,
  onDatabase,
  organization,
  outcome,
  person,
  raw,
  rawAt,
  readSecret,
  removeSecret,
  servicesAt,
  setSecret,
  writeBundle
} from "../support/Services.js"

const count = Effect.gen(function* () {
  const { transaction } = yield* Database
  return yield* (yield* WrapBudget).count(transaction)
})

/** A budget over a database that has so many versions under its key: more than a test can make. */
const budgetOf = (versions: number) => {
  const Counting = Layer.effect(
    Database,
    Effect.map(Database, (database) => ({
      ...database,
      reading: {
        ...database.reading,
        execute: (text: string) => Effect.succeed(text.includes("count(*)") ? [{ versions }] : [])
      }
    }))
  )
  return Layer.fresh(WrapBudget.Default).pipe(Layer.provide(Counting))
}

describe("the budget of a key-encryption key", () => {
  it.effect("is of the versions under that key alone, however many stretches they are counted in", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      const { kekId } = yield* Keyring
      const db = yield* raw
      for (const [kek, from, to] of [
        [kekId, 2, 40_005],
        ["another", 40_006, 40_100]
      ] as const) {
        db.prepare(
          `WITH RECURSIVE n(version) AS (SELECT ? UNION ALL SELECT version + 1 FROM n WHERE version < ?)
            INSERT INTO secret_versions SELECT v.secret_id, n.version, n.version, v.format, ?, x'00', 0, v.created_by,
              v.created_at, NULL, x'00' FROM n, secret_versions v WHERE v.version = 1`
        ).run(from, to, kek)
      }
      assert.strictEqual(yield* count, 40_005)
    }).pipe(onDamagedDatabase())
  )

  it.effect("is told to be running out at four fifths, and writes go on", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      for (const [versions, warnings] of [
        [Math.floor(0.8 * maxWraps), 0],
        [Math.ceil(0.8 * maxWraps), 1],
        [maxWraps - 1, 2]
      ] as const) {
        const budget = yield* Effect.provide(WrapBudget, budgetOf(versions))
        yield* Effect.provideService(count, WrapBudget, budget)
        yield* budget.check()
        assert.strictEqual(lines.length, warnings)
      }
      assert.match(
        lines[0] ?? "",
        /^WARN the key-encryption key has wrapped 3435973837 data keys of at most 4294967296/
      )
    }).pipe(Effect.provide(layer), onDatabase())
  })

  it.effect("refuses every write of a value once it is spent; reads and removals go on", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "kept")
      yield* setSecret(ada, "B", "to be removed")
      yield* Effect.gen(function* () {
        yield* count
        assert.strictEqual(yield* outcome(setSecret(ada, "A", "more")), "LimitExceeded")
        assert.strictEqual(yield* outcome(setSecret(ada, "NEW", "more")), "LimitExceeded")
        assert.strictEqual(yield* outcome(writeBundle(ada, { set: { C: "1" }, delete: ["A"] })), "LimitExceeded")
        assert.strictEqual((yield* readSecret(ada, "A")).value, "kept")
        yield* removeSecret(ada, "B")
      }).pipe(
        Effect.provide(
          Layer.fresh(Layer.merge(Secrets.Default, Bundles.Default)).pipe(Layer.provideMerge(budgetOf(maxWraps)))
        )
      )
      assert.strictEqual((yield* setSecret(ada, "A", "after a rotation")).version, 2)
    }).pipe(onDatabase())
  )

  it.scoped("of a new key is not spent: after a rotation, writes are taken from the first moment on", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const newKey = "f0".repeat(32)
      yield* Effect.gen(function* () {
        const ada = yield* organization()
        for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
        yield* Effect.gen(function* () {
          yield* count
          assert.strictEqual(yield* outcome(setSecret(ada, "A", "four")), "LimitExceeded")
        }).pipe(Effect.provide(Layer.fresh(Secrets.Default).pipe(Layer.provideMerge(budgetOf(maxWraps)))))
      }).pipe(Effect.provide(servicesAt(path)), Effect.scoped)

      // A concurrent reader sees all of the rotation or nothing.
      const reader = yield* rawAt(path, { readonly: true })
      const keysInForce = () =>
        reader.prepare<[], string>("SELECT DISTINCT kek_id FROM secret_versions").pluck().all().join()
      const before = keysInForce()
      const seen: Array<string> = []
      const { versions } = yield* rotate({
        db: path,
        oldKey: Redacted.make(masterKey),
        newKey: Redacted.make(newKey),
        publish: () => Effect.void,
        progress: () => Effect.sync(() => void seen.push(keysInForce()))
      })
      assert.strictEqual(versions, 3)
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 6 }, () => before)
      )
      assert.notStrictEqual(keysInForce(), before)
      assert.notInclude(keysInForce(), ",")

      yield* Effect.gen(function* () {
        const ada = yield* person("ada@example.com")
        assert.strictEqual((yield* setSecret(ada, "A", "four")).version, 4, "before the first count")
        assert.strictEqual(yield* count, 4)
        assert.strictEqual((yield* setSecret(ada, "A", "five")).version, 5, "and after it")
        assert.strictEqual((yield* readSecret(ada, "A", { version: 1 })).value, "one")
      }).pipe(Effect.provide(servicesAt(path, { SERVICE_MASTER_KEY: newKey })), Effect.scoped)
    })
  )
})
