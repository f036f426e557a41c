import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { renderFields, renderList, renderTable } from "../../src/terminal/Table.js"

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
          .map(() =>
            fc.oneof({ weight: 4, arbitrary: cell }, { weight: 1, arbitrary: fc.constantFrom(null, 7, "yes") })
          )
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

  it("shows moments in minutes of UTC, which programs get whole, and what is true as yes", () => {
    const rows = [[new Date("2026-11-30T11:40:05.123Z"), true, false]]
    const titles = ["created", "tls", "owner"]
    assert.strictEqual(
      renderTable(titles, rows, { isTerminal: true, width: undefined }),
      "CREATED               TLS  OWNER\n2026-11-30 11:40 UTC  yes  no\n"
    )
    assert.strictEqual(
      renderTable(titles, rows, { isTerminal: false, width: undefined }),
      "2026-11-30T11:40:05.123Z\tyes\tno\n"
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

describe("a list at a terminal", () => {
  const columns = (line: string) => [...line].length

  it("fits the terminal in one line a row, and has every row whole where the terminal has room", () => {
    fc.assert(
      fc.property(table, terminal, fc.nat(6), ({ rows, titles }, width, important) => {
        const first = titles.slice(important)
        const { left, text } = renderList(titles, rows, { isTerminal: true, width }, first)
        const lines = text.split("\n").slice(0, -1)
        assert.lengthOf(lines, rows.length + 1)
        for (const line of lines) assert.isAtMost(columns(line), width ?? Infinity, text)
        assert.notInclude(left, first[0] ?? titles[0])
        const whole = renderList(titles, rows, { isTerminal: true, width: undefined }, first)
        assert.lengthOf(whole.left, 0)
        const needed = Math.max(...whole.text.split("\n").map(columns))
        if (width === undefined || needed <= width) assert.strictEqual(text, whole.text)
        else assert.isTrue(left.length > 0 || text.includes("…"), text)
      })
    )
  })

  it("cuts the long texts first, then leaves out the least important columns, and cuts no id", () => {
    const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90"
    const titles = ["id", "subject", "project", "env", "permission", "granted by"]
    const rows = [[id, "grace.hopper@example.com", "webshop", "{dev,staging}", "write", "ada@example.com"]]
    const shown = (width: number) =>
      renderList(titles, rows, { isTerminal: true, width }, ["subject", "project", "env", "permission"])
    assert.deepStrictEqual(shown(120), {
      text: [
        "ID                                    SUBJECT                   PROJECT  ENV            PERMISSION  GRANTED BY",
        `${id}  grace.hopper@example.com  webshop  {dev,staging}  write       ada@example.com`,
        ""
      ].join("\n"),
      left: []
    })
    assert.deepStrictEqual(shown(80), {
      text: [
        "SUBJECT                   PROJECT  ENV            PERMISSION  GRANTED BY",
        "grace.hopper@example.com  webshop  {dev,staging}  write       ada@example.com",
        ""
      ].join("\n"),
      left: ["id"]
    })
    assert.deepStrictEqual(shown(50), {
      text: ["SUBJECT                   PROJECT  ENV", "grace.hopper@example.com  webshop  {dev,staging}", ""].join(
        "\n"
      ),
      left: ["id", "permission", "granted by"]
    })
    const urls = renderList(["id", "url"], [[id, "https://hooks.example.com/coffer/very/long"]], {
      isTerminal: true,
      width: 60
    })
    assert.include(urls.text, `${id}  https://hooks.example…\n`)
  })
})
