import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Redacted } from "effect"
import { PassThrough, Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { maskOf } from "../../src/run/MaskedOutput.js"
import { mark, Masker } from "../../src/run/Masker.js"
import { Patterns } from "../../src/run/Patterns.js"
import { runs } from "../../../domain/test/support/Runs.js"

/** Finds every occurrence of every pattern in the whole text, and joins those that overlap. */
const naive = (patterns: ReadonlyArray<string>, text: string): string => {
  const found = patterns
    .flatMap((pattern) =>
      [...text].flatMap((_, start) => (text.startsWith(pattern, start) ? [{ start, end: start + pattern.length }] : []))
    )
    .sort((a, b) => a.start - b.start || b.end - a.end)
  let masked = ""
  let end = 0
  for (const part of found) {
    if (part.start >= end) masked += text.slice(end, part.start) + mark
    end = Math.max(end, part.end)
  }
  return masked + text.slice(end)
}

const streamed = (patterns: ReadonlyArray<string>, chunks: ReadonlyArray<Uint8Array>) => {
  const masker = new Masker(new Patterns(patterns.map((pattern) => Buffer.from(pattern))))
  return Buffer.concat([...chunks.map((chunk) => masker.push(chunk)), masker.end()])
}

const letters = (most: number, least = 1) =>
  fc.string({ unit: fc.constantFrom("a", "b"), minLength: least, maxLength: most })

describe("the masked output", () => {
  it("is what a search of the whole text gives, wherever chunks divide it", () => {
    let masked = 0
    fc.assert(
      fc.property(fc.array(letters(6), { maxLength: 5 }), fc.array(letters(9, 0)), (patterns, chunks) => {
        const expected = naive(patterns, chunks.join(""))
        if (expected.includes(mark)) masked++
        const found = streamed(
          patterns,
          chunks.map((chunk) => Buffer.from(chunk))
        )
        assert.strictEqual(found.toString(), expected)
      }),
      { numRuns: runs(5_000) }
    )
    assert.isAbove(masked, runs(1_000))
  })

  it("masks the encodings of a value that requests with secrets remove from responses", async () => {
    const value = 'p"w/ü n\n2nd-line'
    const bytes = Buffer.from(value)
    const printed: Readonly<Record<string, string>> = {
      json: JSON.stringify({ value }),
      base64: bytes.toString("base64"),
      "base64 with more before it": Buffer.concat([Buffer.from("u:"), bytes]).toString("base64"),
      hex: bytes.toString("hex"),
      url: `https://x.example/?a=${encodeURIComponent(value)}`
    }
    const { copy } = maskOf([{ key: "PW", value: Redacted.make(value) }])
    for (const [name, written] of Object.entries(printed)) {
      const to = new PassThrough()
      const read = text(to)
      await copy(Readable.from([Buffer.from(written)]), to).done
      to.end()
      const masked = await read
      assert.include(masked, mark, name)
      for (let at = 0; at + 8 <= written.length - 3; at++) {
        if (name !== "json" && name !== "url") assert.notInclude(masked, written.slice(at + 3, at + 11), name)
      }
      assert.notInclude(masked, "2nd-line", name)
    }
  })

  it("keeps every byte outside the values, also where the bytes are no text", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), (chunks) => {
        assert.deepStrictEqual(streamed(["\u{1f511}secret", "\0\0\0\0\0\0\0\0"], chunks), Buffer.concat(chunks))
      })
    )
    assert.strictEqual(streamed(["schlüssel"], [Buffer.from("<schlü"), Buffer.from("ssel>")]).toString(), `<${mark}>`)
  })

  it("is written as soon as it can be no part of a value", () => {
    const masker = new Masker(new Patterns([Buffer.from("s3cret")]))
    const push = (text: string) => masker.push(Buffer.from(text)).toString()
    assert.deepStrictEqual(
      [push("name: "), push("s"), push("3cre"), push("t"), push("s3"), push("x"), masker.end().toString()],
      ["name: ", "", "", mark, "", "s3x", ""]
    )
  })

  it("does not grow in memory while a value overlaps itself", () => {
    const masker = new Masker(new Patterns([Buffer.from("0000")]))
    const chunk = Buffer.alloc(100_000, "0")
    const written = Array.from({ length: 20 }, () => masker.push(chunk).toString()).join("")
    assert.strictEqual(written + masker.end().toString(), mark)
  })
})

describe("what is masked", () => {
  const of = (values: Record<string, string>) =>
    maskOf(Object.entries(values).map(([key, value]) => ({ key, value: Redacted.make(value) })))

  it("is each line of a value that has at least four characters", async () => {
    const { copy, short } = of({
      TLS: "first\r\nno\nsecond\n",
      PIN: "123",
      NONE: "",
      KEY: "\u{1f511}\u{1f511}\u{1f511}"
    })
    assert.deepStrictEqual(short, ["PIN", "KEY"])
    const to = new PassThrough()
    const from = Readable.from([Buffer.from("first no 123 seconds fi"), Buffer.from("rst\nsecond")])
    void copy(from, to).done.then(() => to.end())
    assert.strictEqual(await text(to), `${mark} no 123 ${mark}s ${mark}\n${mark}`)
  })
})
