import { assert, describe, it } from "vitest"
import { distinct, search } from "../../src/palette/Search.js"

const commands = ["REDIS_URL", "DATABASE_URL", "URL", "webshop"].map((title) => ({ title, hint: "", run: () => {} }))
const found = (typed: string) => search(commands, typed).map(({ title }) => title)

describe("the search of the palette", () => {
  it("finds all words in any order, the beginning of a name first", () => {
    assert.deepStrictEqual(found("url"), ["URL", "REDIS_URL", "DATABASE_URL"])
    assert.deepStrictEqual(found("url dat"), ["DATABASE_URL"])
    assert.deepStrictEqual(found("nothing"), [])
  })

  it("offers what is found twice once", () => {
    const twice = distinct([...commands, ...commands, { title: "URL", hint: "elsewhere", run: () => {} }])
    assert.strictEqual(twice.length, commands.length + 1)
  })

  it("shows everything before something is typed", () => {
    assert.strictEqual(found("").length, commands.length)
  })
})
