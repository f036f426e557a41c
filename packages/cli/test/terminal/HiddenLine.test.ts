import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { HiddenLine } from "../../src/terminal/HiddenLine.js"
import { pasted } from "../support/Terminal.js"

const feed = (chunks: ReadonlyArray<string>) => {
  const line = new HiddenLine()
  const states = chunks.map((chunk) => line.feed(chunk))
  return { state: states.at(-1), text: line.text }
}

const lines = fc
  .array(fc.string({ unit: "grapheme-ascii" }), { minLength: 2, maxLength: 5 })
  .map((all) => all.join("\n"))

describe("what is pasted between the terminal's marks", () => {
  it("is taken as it is, however it arrives", () => {
    fc.assert(
      fc.property(lines, fc.array(fc.nat({ max: 3 }), { minLength: 1 }), (text, cuts) => {
        const input = `${pasted(text)}\r`
        const chunks: Array<string> = []
        for (let at = 0, turn = 0; at < input.length; turn++) {
          const size = 1 + (cuts[turn % cuts.length] ?? 0)
          chunks.push(input.slice(at, at + size))
          at += size
        }
        const single = text.indexOf("\n") === text.length - 1
        assert.deepStrictEqual(feed(chunks), { state: "done", text: single ? text.slice(0, -1) : text })
      })
    )
  })

  it("can stand beside what is typed", () => {
    assert.deepStrictEqual(feed(["a", pasted("b\nc"), "d\x7fe\r"]), { state: "done", text: "ab\nce" })
    assert.deepStrictEqual(feed([pasted("ctrl \x03 and escape \x1b[A"), "\r"]), {
      state: "done",
      text: "ctrl \x03 and escape \x1b[A"
    })
  })
})

describe("what is typed", () => {
  it("is cancelled by ctrl-C, and by ctrl-D where there is nothing", () => {
    assert.strictEqual(feed(["abc\x03"]).state, "cancelled")
    assert.strictEqual(feed(["\x04"]).state, "cancelled")
    assert.deepStrictEqual(feed(["a\x04b\r"]), { state: "done", text: "ab" })
  })

  it("of several lines at once without marks is told", () => {
    assert.strictEqual(feed(["one\rtwo\r"]).state, "lines")
    assert.strictEqual(feed(["one\r\n"]).state, "done")
  })
})
