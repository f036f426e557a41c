import { closeSync, openSync, writeFileSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { holdsAny as holdsAnyIn } from "@coffer/server/database/sqlite/Remnants"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshPath } from "../../support/Services.js"

const mebibyte = 1024 * 1024

const holdsAny = (path: string, needles: ReadonlyArray<Uint8Array>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => openSync(path, "r")),
    (file) => Effect.sync(() => holdsAnyIn(file, needles)),
    (file) => Effect.sync(() => closeSync(file))
  )

describe("the search for what was erased", () => {
  it.scoped("finds bytes wherever they stand, across the pieces that it reads too", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const needle = randomBytes(48)
      for (const at of [0, 1, mebibyte - 47, mebibyte - 24, mebibyte - 1, mebibyte, 3 * mebibyte - 48]) {
        const file = Buffer.alloc(3 * mebibyte)
        needle.copy(file, at)
        writeFileSync(path, file)
        assert.isTrue(yield* holdsAny(path, [randomBytes(48), needle]), `at ${at}`)
      }
    })
  )

  it.scoped("finds any of many of different lengths, at every offset, and no part of one", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const needles = Array.from({ length: 100 }, (_, index) => randomBytes(48 + (index % 3)))
      for (let at = 0; at < 50; at++) {
        const needle = needles[at * 2]!
        const file = randomBytes(300)
        needle.copy(file, at)
        writeFileSync(path, file)
        assert.isTrue(yield* holdsAny(path, needles), `at ${at}`)
        file[at] = file[at]! ^ 1
        writeFileSync(path, file)
        assert.isFalse(yield* holdsAny(path, needles), `all but its first byte at ${at}`)
        writeFileSync(path, needle)
        assert.isTrue(yield* holdsAny(path, needles), "the whole file")
      }
    })
  )

  it.scoped("finds nothing where they are not", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      writeFileSync(path, randomBytes(2 * mebibyte))
      assert.isFalse(yield* holdsAny(path, [randomBytes(48)]))
      assert.isFalse(yield* holdsAny(path, []))
    })
  )
})
