import { FastCheck as fc } from "effect"
import { assert, describe, it } from "vitest"
import { runs } from "../../../domain/test/support/Runs.js"
import { textOfWrites, writesOf } from "../../src/pages/renewal/RotationWrites.js"

describe("the texts that a rotation writes", () => {
  it("are read from lines, of which those with a blank go on with the text before", () => {
    assert.deepStrictEqual(
      writesOf('URL=postgres://{user}:{password}@db/a?b=c\n\nJSON={\n   "p": "{password}"\n }\nNONE'),
      {
        URL: "postgres://{user}:{password}@db/a?b=c",
        JSON: '{\n  "p": "{password}"\n}',
        NONE: ""
      }
    )
  })

  it("come back as they were, with any lines", () => {
    const key = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/)
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.string({ unit: fc.constantFrom("a", " ", "=", "\n", "{", "\t") })),
        (writes) => {
          assert.deepStrictEqual(writesOf(textOfWrites(writes)), { ...writes })
        }
      ),
      { numRuns: runs(100) }
    )
  })
})
