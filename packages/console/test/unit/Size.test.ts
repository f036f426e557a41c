import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const file = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

const assets = file("packages/server/dist/web/-/assets")

/** The file that is sent for a script: the build compresses no small ones. */
const sentFor = (name: string): string => {
  const compressed = `${assets}/${name}.gz`
  return existsSync(compressed) ? compressed : `${assets}/${name}`
}

/** How large scripts are as they are sent, in KiB. */
const kibOf = (names: ReadonlyArray<string>): number =>
  names.reduce((sum, name) => sum + statSync(sentFor(name)).size, 0) / 1024

const scripts = readdirSync(assets).filter((name) => name.endsWith(".js"))

/** The most that the document says of a script, in KiB, and what it says was measured. */
const rowOf = (what: string): { readonly measured: number; readonly most: number } => {
  const [, measured, most] =
    new RegExp(`^\\| ${what} +\\| (\\d+) KiB +\\| (\\d+) KiB +\\|$`, "m").exec(
      readFileSync(file("docs/console.md"), "utf8")
    ) ?? assert.fail(`docs/console.md says nothing of ${what}`)
  return { measured: Number(measured), most: Number(most) }
}

describe("the size of the console's scripts", () => {
  const first = scripts.filter((name) => name.startsWith("index-"))
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
