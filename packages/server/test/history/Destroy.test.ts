import { Erasures } from "@coffer/server/database/Erasures"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  DbPath,
  isOnPostgres,
  organization,
  outcome,
  readBundle,
  readSecret,
  removeSecret,
  setSecret
} from "../support/Services.js"
import { filesOf, piecesIn, sealedBytes } from "./Sealed.js"
import { changeEntries, destroy, everything, listVersions, onHistory, rollback, undelete } from "./Support.js"

describe("a destroyed version", () => {
  it.effect.skipIf(isOnPostgres())(
    "is in no byte of the database's files any more: its data key and what the key sealed are gone",
    () =>
      Effect.gen(function* () {
        const path = yield* DbPath
        const ada = yield* organization()
        // Some in their row, some on pages of their own.
        const texts = ["", "short", "x".repeat(700), "y".repeat(9_000), "z".repeat(65_536), "kept", "current"]
        for (const text of texts) {
          yield* setSecret(ada, "A", text)
          yield* setSecret(ada, "B", text)
        }
        const gone = [1, 2, 3, 4, 5]
        const sealed = yield* sealedBytes(gone)
        const kept = yield* sealedBytes([6, 7])
        assert.strictEqual(piecesIn(filesOf(path), sealed), sealed.length, "the search finds what is there")
        yield* destroy(ada, "A", gone)
        assert.strictEqual(piecesIn(filesOf(path), sealed), 0)
        assert.strictEqual(piecesIn(filesOf(path), kept), kept.length)
        for (const [index, text] of texts.entries()) {
          const version = index + 1
          assert.strictEqual((yield* readSecret(ada, "B", { version })).value, text)
          if (gone.includes(version)) {
            assert.strictEqual(yield* outcome(readSecret(ada, "A", { version })), "NotFound")
            assert.strictEqual(yield* outcome(rollback(ada, "A", version)), "Conflict")
          } else assert.strictEqual((yield* readSecret(ada, "A", { version })).value, text)
        }
      }).pipe(onHistory)
  )

  it.effect.skipIf(isOnPostgres())("is erased also when whoever asked for it hangs up meanwhile", () =>
    Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      const turns = [0, 1, 2, 4, 8, 16]
      for (const [index, count] of turns.entries()) {
        for (const text of ["gone", "current"]) yield* setSecret(ada, "A", text)
        const version = 2 * index + 1
        const sealed = yield* sealedBytes([version])
        const asked = yield* Effect.fork(destroy(ada, "A", [version]))
        yield* Effect.repeatN(Effect.yieldNow(), count)
        yield* Fiber.interrupt(asked)
        yield* Effect.flatMap(Erasures, ({ finish }) => finish)
        const isDestroyed = (yield* listVersions(ada, "A")).some((row) => row.version === version && row.destroyed)
        assert.strictEqual(piecesIn(filesOf(path), sealed), isDestroyed ? 0 : sealed.length, `after ${count} turns`)
      }
      assert.isTrue(
        (yield* listVersions(ada, "A")).some(({ destroyed }) => destroyed),
        "some had come so far"
      )
    }).pipe(onHistory)
  )

  it.effect("stays on record, with an entry of its own, and is destroyed once", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two", "three", "four"]) yield* setSecret(ada, "A", text)
      const { etag } = yield* readBundle(ada)
      const before = (yield* changeEntries).length
      const all = yield* listVersions(ada, "A")
      const answer = yield* destroy(ada, "A", [1, 3, 1])
      const wanted = all.map((row) => ({ ...row, destroyed: row.version === 1 || row.version === 3 }))
      assert.deepStrictEqual(yield* listVersions(ada, "A"), wanted)
      assert.deepStrictEqual(
        answer,
        wanted.filter(({ destroyed }) => destroyed)
      )
      assert.deepStrictEqual(
        (yield* changeEntries)
          .slice(before)
          .map(({ action, actor, metadata, resource_type }) => [action, actor, resource_type, metadata]),
        [3, 1].map((version) => [
          ...["secret.destroy", "ada@example.com", "secret"],
          { project: "webshop", env: "prod", key: "A", version }
        ])
      )
      assert.strictEqual((yield* readBundle(ada)).etag, etag, "the environment is as it was")

      const once = yield* everything
      assert.deepStrictEqual(yield* destroy(ada, "A", [3, 1]), answer)
      assert.deepStrictEqual(yield* everything, once, "neither the time of it nor an entry is new")
      yield* destroy(ada, "A", [1, 2])
      assert.lengthOf(yield* changeEntries, before + 3)
    }).pipe(onHistory)
  )

  it.effect("is never the current one, and no version is destroyed when one of those named cannot be", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
      const before = yield* everything
      for (const [versions, how] of [
        [[3], "Conflict"],
        [[1, 2, 3], "Conflict"],
        [[1, 4], "NotFound"],
        [[0], "NotFound"]
      ] as const) {
        assert.strictEqual(yield* outcome(destroy(ada, "A", versions)), how)
      }
      assert.strictEqual(yield* outcome(destroy(ada, "ABSENT", [1])), "NotFound")
      assert.deepStrictEqual(yield* everything, before)
    }).pipe(onHistory)
  )

  it.effect("stays destroyed when its secret is deleted and comes back", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two"]) yield* setSecret(ada, "A", text)
      yield* destroy(ada, "A", [1])
      yield* removeSecret(ada, "A")
      assert.strictEqual(yield* outcome(destroy(ada, "A", [1])), "NotFound")
      yield* undelete(ada, "A")
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 2, value: "two" })
      assert.strictEqual(yield* outcome(readSecret(ada, "A", { version: 1 })), "NotFound")
      assert.deepStrictEqual(
        (yield* listVersions(ada, "A")).map(({ destroyed, version }) => [version, destroyed]),
        [
          [2, false],
          [1, true]
        ]
      )
    }).pipe(onHistory)
  )
})

describe("an older life of a key", () => {
  it.effect("is not seen, read, destroyed or brought back through the one that followed, and the answers say so", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["old one", "old two"]) yield* setSecret(ada, "A", text)
      yield* removeSecret(ada, "A")
      const refused = yield* Effect.flip(destroy(ada, "A", [1]))
      assert.deepStrictEqual([refused._tag, /undelete it first/.test(refused.message)], ["NotFound", true])
      yield* setSecret(ada, "A", "new")
      assert.deepStrictEqual(
        (yield* listVersions(ada, "A")).map(({ version }) => version),
        [1]
      )
      assert.strictEqual((yield* readSecret(ada, "A", { version: 1 })).value, "new")
      assert.strictEqual(yield* outcome(readSecret(ada, "A", { version: 2 })), "NotFound")
      assert.strictEqual(yield* outcome(destroy(ada, "A", [2])), "NotFound")
      assert.strictEqual(yield* outcome(rollback(ada, "A", 2)), "NotFound")
      const late = yield* Effect.flip(undelete(ada, "A"))
      assert.deepStrictEqual([late._tag, /was set again .* cannot be undeleted/.test(late.message)], ["Conflict", true])
      // The last that was removed comes back, and never the one before it.
      yield* removeSecret(ada, "A")
      yield* undelete(ada, "A")
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 1, value: "new" })
    }).pipe(onHistory)
  )
})
