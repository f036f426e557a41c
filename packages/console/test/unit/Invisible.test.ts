import { assert, describe, it } from "vitest"
import { invisibleIn, partsOf } from "../../src/kit/Invisible.js"

const drawn = (text: string) =>
  partsOf(text)
    .map(({ mark, text: part }) => (mark === undefined ? part : `[${mark.drawn}]`))
    .join("")

const rightToLeft = "\u202e"

describe("characters that are not seen", () => {
  const cases: ReadonlyArray<readonly [text: string, drawn: string, words: string | null]> = [
    ["", "", null],
    ["plain", "plain", null],
    ["two\nlines\tand a tab", "two\nlines\tand a tab", null],
    ["abc\n", "abc[↵]", "ends with a line feed"],
    ["\n\nabc", "[↵][↵]abc", "begins with 2 line feeds"],
    ["  abc \t", "[·][·]abc[·][⇥]", "begins with 2 blanks, ends with a blank and a tab"],
    ["a\0b", "a[␀]b", "contains NUL"],
    ["a\u0007b", "a[␇]b", "contains U+0007"],
    ["a\r\nb", "a[␍]\nb", "contains a carriage return"],
    ["a\u200bb", "a[U+200B]b", "contains a zero width space"],
    ["a\u00a0b", "a[⍽]b", "contains a no-break space"],
    [`pay ${rightToLeft}001`, "pay [U+202E]001", "contains a right-to-left override"],
    ["\ufeffabc", "[U+FEFF]abc", "begins with a byte order mark"],
    ["é 😀 日本", "é 😀 日本", null],
    [" \n", "[·][↵]", "consists of a blank and a line feed"]
  ]
  for (const [text, expected, words] of cases) {
    it(`are drawn and named in ${JSON.stringify(text)}`, () => {
      assert.strictEqual(drawn(text), expected)
      assert.strictEqual(invisibleIn(text), words)
    })
  }

  it("leave the text as it is to who copies it", () => {
    for (const [text] of cases) {
      assert.strictEqual(
        partsOf(text)
          .map((part) => part.text)
          .join(""),
        text
      )
    }
  })

  it("are drawn in a bounded number, in a time that does not grow with the square of the text", () => {
    for (const text of ["\0".repeat(200_000), " ".repeat(200_000), `${" ".repeat(100_000)}x`, "a ".repeat(100_000)]) {
      const begin = performance.now()
      const parts = partsOf(text)
      assert.isBelow(parts.length, 2_500)
      assert.isBelow(performance.now() - begin, 1_000)
      assert.strictEqual(parts.map((part) => part.text).join(""), text)
    }
  })
})
