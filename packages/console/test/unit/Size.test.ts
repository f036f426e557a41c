import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { kibOf, scripts } from "../support/BuiltScripts.js"

const file = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

/** The most that the document says of a script, in KiB, and what it says was measured. */
const rowOf = (what: string): { readonly measured: number; readonly most: number } => {
  const [, measured, most] =
    new RegExp(`^\\| ${what} +\\| (\\d+) KiB +\\| (\\d+) KiB +\\|$`, "m").exec(
      readFileSync(file("docs/console.md"), "utf8")
    ) ?? assert.fail(`docs/console.md says nothing of ${what}`)
  return { measured: Number(measured), most: Number(most) }
}

describe("the size of the console's scripts", () => {
  it("has the limits of the product: 280 KiB in all, and 130 KiB with the first page", () => {
    assert.isAtMost(rowOf("all scripts, compressed").most, 280)
    assert.isAtMost(rowOf("the scripts of a page, compressed").most, 130)
  })

  const first = scripts.filter((name) => name.includes("/index-"))
  for (const [what, names] of [
    ["all scripts, compressed", scripts],
    ["the script of every page, compressed", first]
  ] as const) {
    it(`is within its limit, and what the document says of ${what} is true`, () => {
      assert.isNotEmpty(names)
      const { measured, most } = rowOf(what)
      const kib = kibOf(names)
      assert.isAtMost(kib, most, "load a part later, or take something out")
      assert.closeTo(kib, measured, 5, "docs/console.md has another figure")
    })
  }
})
