import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc, Schema } from "effect"
import { readCsv } from "../../src/base/Csv.js"
import { maxInvitations, planInvitations, readInvitations, ruleText } from "../../src/access/Invitations.js"
import { Email } from "../../src/base/Names.js"

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`

describe("a CSV file", () => {
  it("is read back to its cells, with each delimiter and line break, with and without a byte order mark", () => {
    const cell = fc.string({
      unit: fc.constantFrom("a", "é", '"', ",", ";", "\t", "\n", "\r", " ", "😀"),
      maxLength: 8
    })
    const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 })
    const shape = fc.record({
      rows,
      delimiter: fc.constantFrom(",", ";", "\t"),
      newline: fc.constantFrom("\n", "\r\n"),
      mark: fc.constantFrom("", "\ufeff")
    })
    fc.assert(
      fc.property(shape, ({ delimiter, mark, newline, rows }) => {
        const header = ["one", "two"]
        const text =
          mark +
          [header, ...rows]
            .map((row) =>
              row.map((one, index) => (index === 0 && /^\w+$/.test(one) ? one : quoted(one))).join(delimiter)
            )
            .join(newline)
        const read = Either.getOrThrow(readCsv(text))
        const wanted = [header, ...rows].filter((row) => row.some((one) => one.trim() !== ""))
        assert.deepStrictEqual(
          read.map(({ cells }) => [...cells]),
          wanted
        )
      })
    )
  })

  it("has the lines of its records, and fails at a quote that hides the rest", () => {
    assert.deepStrictEqual(Either.getOrThrow(readCsv('a,b\r\n"1\r\n2",3\r\n\r\n4,5')), [
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: ["1\r\n2", "3"] },
      { line: 5, cells: ["4", "5"] }
    ])
    assert.deepStrictEqual(readCsv('a\n"b\nc'), Either.left({ line: 2, problem: "a quote is opened and never closed" }))
    assert.strictEqual(Either.getOrThrow(Either.flip(readCsv('a\n"b"c'))).line, 2)
  })

  it("is read in linear time, also a hostile one", () => {
    for (const text of [",".repeat(250_000), '"",'.repeat(80_000), '"'.repeat(250_001), "a\n".repeat(120_000)]) {
      readInvitations(text)
    }
  })
})

const file = `\ufeffEmail,Role,Rules\r
Grace@Example.com,developer,"webshop/{dev,staging}:write webshop/prod:read"\r
linus@example.com,,\r
"ada@example.com",Owner,*/*:admin\r
`

describe("people to invite", () => {
  const people = Either.getOrThrow(readInvitations(file))

  it("are read with roles and rules", () => {
    assert.deepStrictEqual(
      people.map(({ email, line, role, rules }) => [line, String(email), role, rules.map(ruleText)]),
      [
        [2, "grace@example.com", "developer", ["webshop/{dev,staging}:write", "webshop/prod:read"]],
        [3, "linus@example.com", undefined, []],
        [4, "ada@example.com", "owner", ["*/*:admin"]]
      ]
    )
  })

  it("are refused with every mistake, and no mistake repeats the file", () => {
    const wrong = `email,role,rules
planted,king,webshop:read planted/x:fly
grace@example.com,member,
grace@example.com,,
a@example.com,member,webshop/{dev,prod}:read
`
    const mistakes = Either.getOrThrow(Either.flip(readInvitations(wrong)))
    assert.deepStrictEqual(
      mistakes.map(({ line }) => line),
      [2, 2, 2, 2, 4, 5]
    )
    assert.match(mistakes.map(({ problem }) => problem).join("\n"), /line 3 too[\s\S]*in quotes$/)
    assert.notInclude(JSON.stringify(mistakes), "planted")
    for (const [text, problem] of [
      ["", /empty/],
      ["name\nx", /column 1 of the header is unknown/],
      ["role\nmember", /no column email/],
      ["email,email\n", /named twice/],
      [`email\n${"a@b.org\n".repeat(maxInvitations + 1)}`, /at most 1000 people/]
    ] as const) {
      assert.match(Either.getOrThrow(Either.flip(readInvitations(text)))[0].problem, problem)
    }
  })

  it("are planned against what is there: a member stays in the role, and a rule is not granted twice", () => {
    const email = Schema.decodeSync(Email)("grace@example.com")
    const rule = { email, project_pattern: "webshop", env_pattern: "prod" }
    const plan = (permission: string) =>
      planInvitations(people, [{ email, role: "member" }], [{ ...rule, permission }], "developer")
    assert.deepStrictEqual(
      plan("read").map(({ memberAs, role, rules }) => [memberAs, role, rules.map(ruleText)]),
      [
        ["member", "developer", ["webshop/{dev,staging}:write"]],
        [undefined, "developer", []],
        [undefined, "owner", ["*/*:admin"]]
      ]
    )
    assert.strictEqual(plan("write")[0]?.rules[1]?.before, "write")
  })
})
