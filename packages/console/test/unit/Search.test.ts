import { assert, describe, it } from "vitest"
import type { Command } from "../../src/kit/Commands.js"
import { distinct, partsOf, search } from "../../src/palette/Search.js"

const commandOf = (title: string, kind: Command["kind"] = "Keys"): Command => ({ kind, title, hint: "", run: () => {} })
const commands = ["REDIS_URL", "DATABASE_URL", "URL", "webshop"].map((title) => commandOf(title))
const titles = (found: ReturnType<typeof search>) =>
  found.flatMap((section) => section.commands.map(({ title }) => title))
const found = (typed: string) => titles(search(commands, typed))

describe("the search of the palette", () => {
  it("finds all words in any order, the beginning of a name first", () => {
    assert.deepStrictEqual(found("url"), ["URL", "REDIS_URL", "DATABASE_URL"])
    assert.deepStrictEqual(found("url dat"), ["DATABASE_URL"])
    assert.deepStrictEqual(found("nothing"), [])
  })

  it("offers what is found twice once", () => {
    const twice = distinct([...commands, ...commands, { ...commandOf("URL"), hint: "elsewhere" }])
    assert.strictEqual(twice.length, commands.length + 1)
  })

  it("shows everything before something is typed, the actions first", () => {
    assert.strictEqual(found("").length, commands.length)
    const all = search([...commands, commandOf("New key", "Actions")], "")
    assert.deepStrictEqual(
      all.map(({ heading }) => heading),
      ["Actions", "Keys"]
    )
  })

  it("puts what is found under its headings, that of the best first", () => {
    const sections = search([...commands, commandOf("url", "Projects"), commandOf("curls", "Groups")], "url")
    assert.deepStrictEqual(
      sections.map(({ commands, heading }) => [heading, ...commands.map(({ title }) => title)]),
      [
        ["Keys", "URL", "REDIS_URL", "DATABASE_URL"],
        ["Projects", "url"],
        ["Groups", "curls"]
      ]
    )
  })

  it("marks what was typed in a title", () => {
    const marked = (title: string, typed: string) =>
      partsOf(title, typed).map(({ isTyped, text }) => (isTyped ? `[${text}]` : text))
    assert.deepStrictEqual(marked("DATABASE_URL", "url data"), ["[DATA]", "BASE_", "[URL]"])
    assert.deepStrictEqual(marked("URL", ""), ["URL"])
    assert.deepStrictEqual(marked("URL", "ur rl"), ["[URL]"])
  })
})
