import { spellingsOf } from "@coffer/domain/secrets/Spellings"
import { makeScrub } from "@coffer/server/secrets/use/Scrub"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

const scrubbed = (values: ReadonlyArray<string>, text: string) =>
  Effect.runPromise(Effect.flatMap(makeScrub(values), (scrub) => scrub(text)))

const isBase64 = (character: string | undefined): boolean =>
  character !== undefined && /[A-Za-z0-9+/_-]/.test(character)

/** The characters of a text that belong to a spelling of a value, found one spelling and one index at a time. */
const covered = (values: ReadonlyArray<string>, text: string): ReadonlyArray<boolean> => {
  const found = Array.from({ length: text.length }, () => false)
  for (const { isBase64: hasSides, text: spelling } of values.flatMap(spellingsOf)) {
    for (let at = text.indexOf(spelling); at !== -1; at = text.indexOf(spelling, at + 1)) {
      const end = at + spelling.length
      found.fill(true, at, end)
      if (hasSides && isBase64(text[at - 1])) found[at - 1] = true
      if (hasSides && isBase64(text[end])) found[end] = true
    }
  }
  return found
}

const value = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 })
const between = fc.string({ unit: fc.constantFrom("a", "b", "Q", "=", " ", "."), maxLength: 3 })

describe("the parts that a scrub replaces", () => {
  it("are the characters of all spellings, with those of base64 at their sides: one mark for each run of them", async () => {
    const text = (values: ReadonlyArray<string>) => {
      const spellings = values.flatMap(spellingsOf).map(({ text }) => text)
      return fc.array(fc.tuple(between, fc.constantFrom(...spellings), between), { maxLength: 5 })
    }
    const cases = fc
      .array(value, { minLength: 1, maxLength: 3 })
      .chain((values) => fc.tuple(fc.constant(values), text(values)))
    let replaced = 0
    await fc.assert(
      fc.asyncProperty(cases, async ([values, pieces]) => {
        const whole = pieces.flat().join("")
        const result = await scrubbed(values, whole)
        fc.pre(result !== null)
        const found = covered(values, whole)
        const starts = found.filter((is, index) => is && found[index - 1] !== true).length
        const expected = Array.from(whole, (character, index) =>
          found[index] !== true ? character : found[index - 1] === true ? "" : "[scrubbed]"
        ).join("")
        assert.deepStrictEqual(result, { text: expected, count: starts })
        replaced += starts
      }),
      { numRuns: runs(400) }
    )
    assert.isAbove(replaced, runs(100))
  })

  const secret = "Canary7-value"
  const other = "value-of-another"
  const base64 = Buffer.from(secret).toString("base64")
  for (const [name, text, expected, count] of [
    ["nothing: the text as it is", "no such text", "no such text", 0],
    ["the whole text", secret, "[scrubbed]", 1],
    ["a value, without the letters at its sides", `x${secret}y`, "x[scrubbed]y", 1],
    ["a value twice in a row: one part", secret + secret, "[scrubbed]", 1],
    ["a value twice with a character between: two parts", `${secret} ${secret}`, "[scrubbed] [scrubbed]", 2],
    ["two values that overlap: one part", "Canary7-value-of-another", "[scrubbed]", 1],
    ["base64, with the letters at its sides", `(xQ${base64.slice(0, 17)}Qx)`, "(x[scrubbed]x)", 1],
    [
      "base64 at both ends of the text",
      Buffer.from("Canary7-value-x").toString("base64").slice(0, 18),
      "[scrubbed]",
      1
    ],
    ["base64, without punctuation at its sides", `"${base64.slice(0, 17)}"`, '"[scrubbed]"', 1]
  ] as const) {
    it(name, async () => {
      assert.deepStrictEqual(await scrubbed([secret, other], text), { text: expected, count })
    })
  }

  it("are merged when a longer value, found last, holds several that were found before it", async () => {
    const [one, two] = ["1111aaaa", "2222bbbb"]
    const long = `x${one}-${two}-y`
    assert.deepStrictEqual(await scrubbed([one, two, long], `(${long})`), { text: "([scrubbed])", count: 1 })
    assert.deepStrictEqual(await scrubbed([one, two], `(${long})`), { text: "(x[scrubbed]-[scrubbed]-y)", count: 2 })
  })

  it("are not enough for a value in an encoding of an encoding: the text is withheld", async () => {
    const twice = Buffer.from(Buffer.from(secret).toString("hex")).toString("base64")
    assert.isNull(await scrubbed([secret], `it is ${twice}`))
    assert.deepStrictEqual(await scrubbed([other], `it is ${twice}`), { text: `it is ${twice}`, count: 0 })
  })
})
