import { viewsHold } from "@coffer/server/secrets/use/Decoders"
import { makeMatcher } from "@coffer/server/secrets/use/Matcher"
import { makeScrub } from "@coffer/server/secrets/use/Scrub"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"

const small = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 40 })
const patterns = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 }), { maxLength: 5 })

/** The longest pattern that ends at each index; 0 for none. */
const naive = (text: string, texts: ReadonlyArray<string>): ReadonlyArray<number> =>
  Array.from({ length: text.length }, (_none, index) =>
    Math.max(0, ...texts.filter((one) => text.slice(0, index + 1).endsWith(one)).map(({ length }) => length))
  )

describe("the matcher", () => {
  it("finds the longest pattern of each kind that ends at each place, in any text", async () => {
    await fc.assert(
      fc.asyncProperty(small, patterns, patterns, async (text, first, second) => {
        const kinds = [first, second]
        const matcher = await Effect.runPromise(makeMatcher(kinds.map((texts, kind) => ({ kind, texts }))))
        const found = kinds.map(() => Array.from({ length: text.length }, () => 0))
        const seen = (index: number, state: number) => {
          kinds.forEach((_texts, kind) => {
            found[kind]![index] = matcher.longest(kind, state)
          })
          return false
        }
        await Effect.runPromise(matcher.scan(text, seen))
        assert.deepStrictEqual(
          found,
          kinds.map((texts) => naive(text, texts))
        )
      })
    )
  })
})

/** How often the clock was looked at meanwhile. The clock stands still, so that no slice ends: its end is one more look. */
const looksOf = async (work: () => Promise<unknown>): Promise<number> => {
  const { now } = performance
  let looks = 0
  performance.now = () => {
    looks++
    return 0
  }
  await work().finally(() => {
    performance.now = now
  })
  return looks
}

describe("the clock is looked at by steps, not by characters", () => {
  it("while the automaton is built: many patterns share a prefix that falls back through all of itself", async () => {
    const prefix = "a".repeat(8_000)
    const ends = Array.from({ length: 200 }, (_none, index) => prefix + String.fromCharCode(0x30 + index))
    const looks = await looksOf(() => Effect.runPromise(makeMatcher([{ kind: 0, texts: ends }])))
    // Each end goes back through the whole prefix: 200 * 8,000 steps, after as many to add the patterns.
    assert.isAbove(looks, (2 * 200 * 8_000) / 8_192)
  })

  it("while a text is searched: each character is compared with many", async () => {
    const ends = Array.from({ length: 200 }, (_none, index) => `aa${String.fromCharCode(0x80 + (index % 127))}${index}`)
    const matcher = await Effect.runPromise(makeMatcher([{ kind: 0, texts: ends }]))
    const text = "aab".repeat(4 * 1024)
    const looks = await looksOf(() => Effect.runPromise(matcher.scan(text, () => false)))
    assert.isAbove(looks, (4 * 1024 * 127) / 8_192)
  })
})

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
