import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

/** Few letters, so that texts have some in common; one of two code units among them. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "😀"), maxLength: 6 })

/** The definition, word for word: exponential, and nothing to be wrong in. */
const defined = ([a, ...restA]: ReadonlyArray<string>, [b, ...restB]: ReadonlyArray<string>): number => {
  if (a === undefined || b === undefined)
    return Math.max(a === undefined ? 0 : 1 + restA.length, b === undefined ? 0 : 1 + restB.length)
  if (a === b) return defined(restA, restB)
  const isSwapped = a === restB[0] && b === restA[0]
  return (
    1 +
    Math.min(
      defined(restA, [b, ...restB]),
      defined([a, ...restA], restB),
      defined(restA, restB),
      isSwapped ? defined(restA.slice(1), restB.slice(1)) : Infinity
    )
  )
}

const lengthOf = (text: string): number => [...text].length

describe("the edit distance", () => {
  it("is what its definition says", () => {
    fc.assert(fc.property(text, text, (a, b) => editDistance(a, b) === defined([...a], [...b])))
  })

  it("is 0 for equal texts alone, and the same both ways", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.strictEqual(editDistance(a, b) === 0, a === b)
        assert.strictEqual(editDistance(a, b), editDistance(b, a))
      })
    )
  })

  it("counts a swap of two letters as one mistake", () => {
    for (const typed of ["pord", "prdo", "rpod"]) assert.strictEqual(editDistance(typed, "prod"), 1)
    assert.strictEqual(editDistance("dorp", "prod"), 3)
  })

  it("is at least the difference of the lengths, and at most the length of the longer text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 30 }),
        fc.string({ unit: "binary", maxLength: 30 }),
        (a, b) => {
          const distance = editDistance(a, b)
          assert.isAtLeast(distance, Math.abs(lengthOf(a) - lengthOf(b)))
          assert.isAtMost(distance, Math.max(lengthOf(a), lengthOf(b)))
        }
      )
    )
  })
})

describe("the nearest word", () => {
  it("is at the least distance, and the first of those", () => {
    fc.assert(
      fc.property(fc.array(text), fc.func(fc.oneof(fc.nat(5), fc.constant(Infinity))), (words, distanceTo) => {
        const found = nearestBy(words, distanceTo)
        const distances = words.map((word) => distanceTo(word))
        const least = Math.min(...distances)
        assert.strictEqual(found, least === Infinity ? undefined : words[distances.indexOf(least)])
      })
    )
  })
})
