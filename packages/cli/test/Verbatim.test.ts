import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { isStandardInput, markVerbatim, unmark } from "../src/Verbatim.js"

const word = fc.oneof(
  fc.string({ unit: "binary" }).filter((text) => !text.includes("\0")),
  fc.constantFrom("-", "--", "--version", "-h", "--file", "--json", "", "--file=-"),
  fc.string().map((text) => `-${text.replaceAll("\0", "")}`)
)
const takesValue = (text: string) => text === "--file"

describe("the words for the parser", () => {
  it("after --, none looks like an option, and each comes back as it was", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), fc.array(word, { maxLength: 6 }), (before, after) => {
        const front = before.filter((text) => text !== "--")
        const words = markVerbatim([...front, "--", ...after], takesValue)
        const verbatim = words.slice(front.length + 1)
        assert.deepStrictEqual(verbatim.map(unmark), after)
        for (const text of verbatim) {
          assert.isFalse(text.startsWith("-"))
          assert.isFalse(isStandardInput(text))
        }
      })
    )
  })

  it("before --, only a - that is no option's value is marked", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        const front = words.filter((text) => text !== "--")
        markVerbatim(front, takesValue).forEach((text, index) => {
          const isArgument = front[index] === "-" && front[index - 1] !== "--file"
          assert.strictEqual(isStandardInput(text), isArgument)
          assert.strictEqual(unmark(text), front[index])
        })
      })
    )
  })
})
