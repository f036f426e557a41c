import { type Charset, charsets, generateValue } from "@coffer/client/internal/GeneratedValue"
import { Effect, Either, Redacted } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { recipe } from "../../src/secrets/Generate.js"
import { workplace } from "../support/Workplace.js"

const names = Object.keys(charsets).filter((name): name is Charset => Object.hasOwn(charsets, name))

describe("a generated value", () => {
  it("has the length that was asked for, of characters of its set alone", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.integer({ min: 1, max: 2_000 }), (charset, length) => {
        const decoded = Either.getOrThrow(recipe.decode("--generate", `${length},${charset}`))
        assert.deepStrictEqual(decoded, { length, charset })
        const text = Redacted.value(Effect.runSync(generateValue(decoded.length, decoded.charset)))
        assert.lengthOf(text, length)
        for (const character of text) assert.include(charsets[charset], character)
      })
    )
  })

  it.each(names)("has each character of %s equally often", (charset) => {
    const characters = [...charsets[charset]]
    assert.lengthOf(new Set(characters), characters.length)
    const expected = 600
    const text = Redacted.value(Effect.runSync(generateValue(expected * characters.length, charset)))
    const deviations = characters.map((character) => (text.split(character).length - 1 - expected) ** 2 / expected)
    const statistic = deviations.reduce((sum, each) => sum + each)
    const freedom = characters.length - 1
    // Six standard deviations: a byte modulo 62 is 15 % off for some characters, which makes the statistic 20 times as large.
    assert.isBelow(statistic, freedom + 6 * Math.sqrt(2 * freedom))
  })
})

describe("secret set --generate", () => {
  const place = workplace()

  it("stores a value that it does not show", async () => {
    const { stderr, stdout } = await place.ok("secret", "set", "MADE", "--generate")
    const made = await place.prints("secret", "get", "MADE")
    assert.match(made, /^[A-Za-z0-9]{32}$/)
    assert.strictEqual(stdout, "MADE stored in webshop/dev as version 1: 32 random characters (alnum, 190 bits)\n")
    assert.strictEqual(stderr, "")
    assert.notInclude(await place.prints("secret", "set", "MADE", "--generate=64,hex", "--json"), "value")
    assert.match(await place.prints("secret", "get", "MADE"), /^[0-9a-f]{64}$/)
    await place.ok("secret", "set", "--generate=6,digits", "PIN", "--if-version", "0")
    assert.match(await place.prints("secret", "get", "PIN"), /^[0-9]{6}$/)
  })

  it.each([
    [["--generate=0"], /--generate takes a length from 1 to 65536, and a character set, such as 32,hex/],
    [["--generate=65537"], /takes a length from 1 to 65536/],
    [["--generate=64,HEX"], /--generate takes one of these character sets: alnum, .*; did you mean hex\?/],
    [["--generate=a,hex"], /takes a length .*; the sets are alnum, alpha, digits, hex, base64url, symbols/],
    [["--generate=12,emoji"], /takes one of these character sets: alnum, alpha, digits, hex, base64url, symbols/],
    [["--generate="], /--generate needs a value/],
    [["--generate", "40"], /leave VALUE out; a length is written --generate=LENGTH/],
    [["--generate", "--file", "x"], /leave --file, --expand and --allow-empty out/]
  ])("refuses %j", async (args, problem) => {
    const { code, stderr, stdout } = await place.home.coffer(["secret", "set", "REFUSED", ...args])
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.match(stderr, problem)
    assert.strictEqual((await place.home.coffer(["secret", "get", "REFUSED"])).code, 4)
  })
})
