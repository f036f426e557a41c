import { writeFileSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { holdsAny } from "@coffer/server/database/Remnants"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshPath } from "../support/Services.js"

const mebibyte = 1024 * 1024

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

  it.scoped("finds nothing where they are not", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      writeFileSync(path, randomBytes(2 * mebibyte))
      assert.isFalse(yield* holdsAny(path, [randomBytes(48)]))
      assert.isFalse(yield* holdsAny(path, []))
    })
  )
})
