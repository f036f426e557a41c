import { makeMatcher } from "@coffer/server/secrets/use/Matcher"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { looksOf } from "./Looks.js"

const small = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 40 })
const patterns = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 }), { maxLength: 5 })

/** The longest pattern that ends at each index; 0 for none. */
const naive = (text: string, texts: ReadonlyArray<string>): ReadonlyArray<number> =>
  Array.from({ length: text.length }, (_none, index) =>
    Math.max(0, ...texts.filter((one) => text.slice(0, index + 1).endsWith(one)).map(({ length }) => length))
  )

/** The length of the longest end of a text that a pattern begins with. */
const naiveOpenEnd = (text: string, texts: ReadonlyArray<string>): number =>
  Math.max(
    0,
    ...Array.from({ length: text.length }, (_none, index) => text.slice(index))
      .filter((end) => texts.some((one) => one.startsWith(end)))
      .map(({ length }) => length)
  )

describe("the matcher", () => {
  it("knows the longest end of a text that more text could complete", async () => {
    await fc.assert(
      fc.asyncProperty(small, patterns, async (text, texts) => {
        const matcher = await Effect.runPromise(makeMatcher([{ kind: 0, texts }]))
        assert.strictEqual(await Effect.runPromise(matcher.openEnd(text)), naiveOpenEnd(text, texts))
      })
    )
  })

  it("stops at the first wanted occurrence, and returns whether there was one", async () => {
    const matcher = await Effect.runPromise(makeMatcher([{ kind: 0, texts: ["ab", ""] }]))
    const ends = async (text: string, enough: number) => {
      const seen: Array<number> = []
      const stopped = await Effect.runPromise(matcher.scan(text, (index) => seen.push(index) === enough))
      return [stopped, ...seen]
    }
    assert.deepStrictEqual(await ends("xabxab", 1), [true, 2])
    assert.deepStrictEqual(await ends("xabxab", 3), [false, 2, 5])
    assert.deepStrictEqual(await ends("", 1), [false])
    assert.deepStrictEqual([matcher.longest(0, 1), matcher.longest(7, 1)], [0, 0])
  })

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
