import { viewsHold } from "@coffer/server/secrets/use/Decoders"
import { makeMatcher } from "@coffer/server/secrets/use/Matcher"
import { makeScrub } from "@coffer/server/secrets/use/Scrub"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { looksOf } from "./Looks.js"

describe("the clock is looked at by characters, not by parts", () => {
  it("while a text is decoded: a run of escapes is one part", async () => {
    const matcher = await Effect.runPromise(makeMatcher([{ kind: 0, texts: ["zzzzzzzz"] }]))
    const text = "\\u0061".repeat(200_000)
    const looks = await looksOf(() => Effect.runPromise(viewsHold(text, matcher, 1)))
    const scanned = text.length + 200_000
    assert.isAbove(looks, scanned / 8_192 + text.length / 32_768)
  })
})

const kib = 1024

describe("the scrub of 8 KiB in 1.4 MiB", () => {
  const a = "a".repeat(4 * kib)
  const cases: Readonly<Record<string, readonly [value: string, text: string]>> = {
    "a value that almost fits everywhere": [`${a}b${a}`.slice(0, 8 * kib), "a".repeat(1_400 * kib)],
    "a value that fits everywhere": ["a".repeat(8 * kib), "a".repeat(1_400 * kib)],
    "text of escapes alone": ["%5Cu".repeat(2 * kib), "\\u0061%5c&#97;".repeat(100 * kib)],
    "text of short runs": ["0123456789".repeat(800), "0123456789 ".repeat(127 * kib)]
  }
  for (const [name, [value, text]] of Object.entries(cases)) {
    it(`takes steps in proportion, in slices: ${name}`, async () => {
      const scrub = await Effect.runPromise(makeScrub([value]))
      const looksAt = (part: string) => looksOf(() => Effect.runPromise(scrub(part)))
      const looks = await looksAt(text)
      // The text is searched for spellings, and what is left of it for the value.
      assert.isAtLeast(looks, (2 * text.length) / 8_192)
      assert.isBelow(looks, 2.2 * (await looksAt(text.slice(0, text.length / 2))))
    })
  }
})
