import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { renderFields, renderTable } from "../../src/terminal/Table.js"

const word = fc.stringMatching(/^[a-zé]{1,18}$/)
const cell = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(" "))
const terminal = fc.constantFrom(40, 60, 80, 132, undefined)
const table = fc.uniqueArray(word, { minLength: 1, maxLength: 7 }).chain((titles) =>
  fc.record({
    titles: fc.constant(titles),
    // The first column is a name without spaces.
    rows: fc.array(
      fc.tuple(
        word,
        ...titles
          .slice(1)
          .map(() => fc.oneof({ weight: 4, arbitrary: cell }, { weight: 1, arbitrary: fc.constantFrom(null, 7, true) }))
      ),
      { maxLength: 6 }
    )
  })
)

const wordsOf = (text: string) => text.split(/\s+/).filter((each) => each !== "")

describe("a table at a terminal", () => {
  it("fits the terminal, and has every word of every row", () => {
    fc.assert(
      fc.property(table, terminal, ({ rows, titles }, width) => {
        const text = renderTable(titles, rows, { isTerminal: true, width })
        for (const line of text.split("\n")) assert.isAtMost([...line].length, width ?? Infinity, text)
        const shown = wordsOf(text)
        const wanted = rows.flatMap((row) => row.flatMap((each) => (each === null ? [] : wordsOf(String(each)))))
        const left = [...shown]
        for (const each of wanted) {
          assert.include(left, each, text)
          left.splice(left.indexOf(each), 1)
        }
      })
    )
  })

  it("puts below each row, with its title, what has no room beside the others", () => {
    const rows = [
      ["2026-01-31", "ada@example.com", "secret.read", "secret key=DATABASE_URL project=webshop env=dev", "127.0.0.1"],
      ["2026-01-31", "grace@example.com", "login", "user", null]
    ]
    const titles = ["time", "actor", "action", "about", "address"]
    assert.strictEqual(
      renderTable(titles, rows, { isTerminal: true, width: 60 }),
      [
        "TIME        ACTOR              ACTION       ADDRESS",
        "2026-01-31  ada@example.com    secret.read  127.0.0.1",
        "  about: secret key=DATABASE_URL project=webshop env=dev",
        "2026-01-31  grace@example.com  login        -",
        "  about: user",
        ""
      ].join("\n")
    )
  })

  it("breaks the texts of a record between words", () => {
    const record = { name: "DATABASE_URL", description: "where the shop keeps its orders and its customers" }
    assert.strictEqual(
      renderFields(record, { isTerminal: true, width: 40 }),
      [
        "name         DATABASE_URL",
        "description  where the shop keeps its",
        "             orders and its customers",
        ""
      ].join("\n")
    )
    assert.strictEqual(
      renderFields(record, { isTerminal: false, width: undefined }),
      `name\tDATABASE_URL\ndescription\t${record.description}\n`
    )
  })
})
