import { maxKeys } from "@coffer/domain/secrets/SecretValues"
import { Either } from "effect"
import { assert, describe, it } from "vitest"
import { Unreadable } from "@coffer/domain/formats/Format"
import { type FormatName, formatNames } from "@coffer/domain/formats/FormatNames"
import { formats } from "./Support.js"

const megabytes = 4_000_000

const join = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("")

const pairs = (name: FormatName, count: number) =>
  formats[name].write(Array.from({ length: count }, (_, index) => ({ key: `K${index}`, value: `value ${index}` })))

describe.each(formatNames)("the reader of %s", (name) => {
  it("takes as many secrets as can be written at once, and stops at the next one", () => {
    assert.lengthOf(Either.getOrThrow(formats[name].read(pairs(name, maxKeys))), maxKeys)
    const found = Either.flip(formats[name].read(pairs(name, maxKeys + 1)))
    const [{ line, problem }] = Either.getOrThrow(found).mistakes
    assert.strictEqual(line, maxKeys + (name === "json" ? 2 : 1))
    assert.match(problem, /^the file holds more than 2000 secrets/)
  })
})

/** Texts whose reading was quadratic, or filled the stack of a regular expression. Each ends: how fast is not asked. */
const texts: ReadonlyArray<readonly [FormatName, string, () => string, RegExp | number]> = [
  ["env", "1,000,000 lines", () => join(1_000_000, (at) => `K${at}=value\n`), /more than 2000 secrets/],
  ["env", "1,000,000 lines of one key", () => "K=value\n".repeat(1_000_000), /more than 2000 secrets/],
  ["env", "carriage returns", () => "\r".repeat(megabytes), 0],
  ["env", "blank lines between two secrets", () => `A=1\n${"\n".repeat(megabytes)}B=1`, 2],
  ["env", "comments", () => join(300_000, (at) => `# it's ${at}\n`), 0],
  ["env", "a long value in quotes", () => `A='${"x".repeat(megabytes)}'`, /^A: the value is larger than 64 KB/],
  ["env", "quotes that do not close", () => `A='${"\\'".repeat(megabytes)}`, /^A: the value is larger than 64 KB/],
  ["env", "quotes that close in front of a word", () => `A="${"x\n".repeat(megabytes)}" y`, /^A: its quotes/],
  ["shell", "1,000,000 lines", () => join(1_000_000, (at) => `export K${at}='value'\n`), /more than 2000 secrets/],
  ["shell", "a long value in quotes", () => `A="${"x".repeat(megabytes)}"`, /^A: its value is not plain text/],
  ["shell", "a long value of escapes", () => `A=${"\\a".repeat(megabytes)}`, /^A: the value is larger than 64 KB/],
  ["docker", "1,000,000 lines", () => join(1_000_000, (at) => `K${at}=value\n`), /more than 2000 secrets/],
  ["docker", "blank lines", () => "\n".repeat(megabytes), 0],
  ["json", "1,000,000 members", () => `{${join(1_000_000, (at) => `"K${at}":"v",\n`)}}`, /more than 2000 secrets/],
  ["json", "a long value", () => `{"A":"${"x".repeat(megabytes)}"}`, /^A must have a text .* of at most 64 KB/],
  ["json", "a long value of escapes", () => `{"A":"${"\\u0041".repeat(megabytes)}"}`, /^A must have a text/],
  ["yaml", "1,000,000 lines", () => join(1_000_000, (at) => `K${at}: value\n`), /more than 2000 secrets/],
  ["yaml", "blank lines", () => `A: x\n${"\n".repeat(megabytes)}B: x`, /too many comments or lines/],
  ["yaml", "comments", () => join(300_000, (at) => `# it's ${at}\n`), /too many comments or lines/],
  ["yaml", "a long value in quotes", () => `A: "${"x".repeat(megabytes)}"`, /longer than any value/],
  ["yaml", "a long value of lines", () => `A: |\n${join(300_000, (at) => `  line ${at}\n`)}`, /longer than any value/],
  ["yaml", "brackets", () => "[".repeat(megabytes), /too many comments or lines/],
  ["yaml", "documents", () => "---\n".repeat(megabytes / 4), /too many comments or lines/],
  ["yaml", "anchors", () => `A: ${"&a ".repeat(megabytes / 4)}x`, /too many comments or lines/]
]

describe("a large file ends the reading soon", () => {
  it.each(texts)("%s: %s", (name, _, text, expected) => {
    const found = formats[name].read(text())
    if (typeof expected === "number") return assert.lengthOf(Either.getOrThrow(found), expected)
    const problem = Either.getOrThrow(Either.flip(found))
    assert.instanceOf(problem, Unreadable)
    assert.match(problem.mistakes[0].problem, expected)
  })
})
