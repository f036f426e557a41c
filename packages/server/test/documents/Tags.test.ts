import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "../../src")

it("no two services have the same key: merged contexts would hold only one of them", () => {
  const keys = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), "utf8")
      return [...text.matchAll(/(?:Tag|Service|Reference)(?:<[^(]*>)?\(\)?\(?\s*"(@coffer\/server\/[\w/-]+)"/g)].map(
        ([, key]) => key
      )
    })
  assert.isAbove(keys.length, 80)
  assert.deepStrictEqual(
    keys.filter((key, index) => keys.indexOf(key) !== index),
    []
  )
})
