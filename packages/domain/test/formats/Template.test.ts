import { parse as parseDotenv } from "dotenv"
import { Either } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { parse as parseYaml } from "yaml"
import { envRefusal } from "../../src/formats/EnvSpelling.js"
import { applyFilter, filterNames } from "../../src/formats/Filters.js"
import { fillTemplate, parseDelimiters, parseTemplate, type TemplatePart } from "../../src/formats/Template.js"
import { type ReferenceTarget, targetOf, targetText } from "../../src/secrets/Reference.js"
import { runs } from "../support/Runs.js"

const target = (name: string): ReferenceTarget => targetOf(name) ?? assert.fail(name)

const literal = fc
  .array(fc.constantFrom("{", "{{", "{{{", "}", "}}", "|", "$", "\0", "\r\n", "é", "\u{1f510}", " KEY ", "\ufeff"), {
    minLength: 1,
    maxLength: 8
  })
  .map((pieces) => pieces.join(""))

const placeholder = fc.record({
  target: fc.constantFrom("KEY", "a.b-c", "_", "prod:KEY", "pr-42:x").map(target),
  filter: fc.constantFrom(null, ...filterNames),
  space: fc.constantFrom("", " ", "\t ")
})

/** Texts between placeholders: two that follow one another would be one. */
const templates = fc.array(fc.tuple(fc.option(literal, { nil: "" }), placeholder), { maxLength: 5 })

const escape = (text: string) => text.replaceAll("{{", "{{{{")

const value = fc.oneof(
  fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
  fc
    .array(fc.constantFrom("'", '"', "\\", "\n", "\r", "$", "`", "{{KEY}}", "#", " ", "%", "é", "\u2028", "\0", "a"), {
      maxLength: 8
    })
    .map((pieces) => pieces.join(""))
)

describe("a template", () => {
  it("is read as the literal text and the placeholders that it was written from", () => {
    fc.assert(
      fc.property(templates, literal, (pieces, end) => {
        const text = pieces.map(([before, { filter, space, target }]) => {
          const name = `${space}${targetText(target)}${space}`
          return `${escape(before)}{{${name}${filter === null ? "" : `|${space}${filter}${space}`}}}`
        })
        const parts = pieces.flatMap(([before, { filter, target }]): ReadonlyArray<TemplatePart> => [
          ...(before === "" ? [] : [before]),
          { ...target, filter }
        ])
        assert.deepStrictEqual(parseTemplate(text.join("") + escape(end)), Either.right([...parts, end]))
      }),
      { numRuns: runs(2_000), examples: [[[["{", { target: target("KEY"), filter: null, space: "" }]], "}"]] }
    )
  })

  it("gets the values as they are: what looks like a placeholder in one stays", () => {
    fc.assert(
      fc.property(literal, value, value, (text, one, other) => {
        const parts = Either.getOrThrow(parseTemplate(`{{A}}${escape(text)}{{dev:B}}`))
        const values = new Map([
          ["A", one],
          ["dev:B", other]
        ])
        const filled = Either.getOrThrow(fillTemplate(parts, (name) => values.get(targetText(name))))
        assert.deepStrictEqual(
          filled.map((part) => part.text),
          [one, text, other]
        )
      }),
      { numRuns: runs(500) }
    )
  })

  it("names every missing secret and every value that a filter cannot write, without the value", () => {
    const parts = Either.getOrThrow(parseTemplate("{{A}} {{B}} {{A | json}} {{prod:C}} {{NUL | shell}} {{NUL|env}}"))
    const filled = fillTemplate(parts, ({ key }) => (key === "NUL" ? "hidden\0" : undefined))
    assert.deepStrictEqual(
      Either.mapLeft(filled, ({ missing, refused }) => [missing.map(targetText), refused]),
      Either.left([
        ["A", "B", "prod:C"],
        [
          "NUL has a value with a NUL byte, which no shell can hold (filter shell)",
          "NUL has a value with a NUL byte, which no environment variable can hold (filter env)"
        ]
      ])
    )
  })

  it("takes other delimiters, by the same rules", () => {
    const delimiters = parseDelimiters("[[,]]") ?? assert.fail("are delimiters")
    const parts = Either.getOrThrow(parseTemplate("{{ .Values.a }} [[KEY]] [[[[ [[[prod:B | json]]", delimiters))
    assert.deepStrictEqual(parts, [
      "{{ .Values.a }} ",
      { ...target("KEY"), filter: null },
      " [[ [",
      { ...target("prod:B"), filter: "json" }
    ])
    assert.deepStrictEqual(
      Either.getOrThrow(parseTemplate("<<A>>", parseDelimiters("<<,>>") ?? assert.fail("are delimiters"))),
      [{ ...target("A"), filter: null }]
    )
    const problem = Either.getOrThrow(Either.flip(parseTemplate("[[1]]", delimiters)))[0].problem
    assert.match(problem, /^\[\[ begins neither \[\[KEY\]\], /)
    for (const text of ["", "[[", "[,]", "ab,cd", "[[,]],", ",,,,", "  ,  "])
      assert.isUndefined(parseDelimiters(text), text)
  })

  it("is refused with the line of each mistake, and without its text", () => {
    const texts = [
      "{{#if hunter2}}",
      "{{ range .hunter2 }}",
      "{{hunter2",
      "{{}}",
      "{{1KEY}}",
      "{{Env:KEY}}",
      "{{a/b:K}}"
    ]
    const left = Either.flip(parseTemplate(texts.join("\n{{OK}}\n")))
    const mistakes = Either.getOrThrow(left)
    assert.deepStrictEqual(
      mistakes.map(({ line }) => line),
      texts.map((_, index) => 2 * index + 1)
    )
    assert.notInclude(JSON.stringify(mistakes), "hunter2")
    const problemOf = (text: string) => Either.getOrThrow(Either.flip(parseTemplate(text)))[0].problem
    assert.match(problemOf("{{KEY | upper}}"), /^KEY has no filter that exists: the filters are json, yaml/)
    assert.match(problemOf("{{KEY | constructor}}"), /no filter that exists/)
    assert.strictEqual(problemOf("{{KEY | json | base64}}"), "KEY has more than one filter")
  })
})

describe("a filter", () => {
  const readers: Readonly<Record<string, (text: string) => unknown>> = {
    json: (text) => JSON.parse(text),
    yaml: (text) => [parseYaml(text, { version: "1.1" }), parseYaml(text, { version: "1.2" })],
    base64: (text) => Buffer.from(text, "base64").toString(),
    url: (text) => {
      assert.match(text, /^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/)
      return decodeURIComponent(text)
    },
    env: (text) => parseDotenv(`KEY=${text}\nNEXT=1\n`)["KEY"]
  }

  it("writes what its reader reads back, or refuses what the format refuses", () => {
    fc.assert(
      fc.property(fc.constantFrom(...filterNames), value, (name, text) => {
        const written = applyFilter(name, text)
        if (Either.isLeft(written)) {
          const refusal = name === "env" ? envRefusal({ key: "KEY", value: text }) : "has a value with a NUL byte"
          assert.include(written.left, refusal ?? "no refusal")
          return
        }
        if (name === "shell") return
        const read = readers[name]?.(written.right)
        assert.deepStrictEqual(read, name === "yaml" ? [text, text] : text)
      }),
      { numRuns: runs(5_000) }
    )
  })

  it("is left out for the value as it is", () => {
    assert.deepStrictEqual(applyFilter(null, "a\0'"), Either.right("a\0'"))
  })
})
