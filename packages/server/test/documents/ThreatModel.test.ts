import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("../../../../", import.meta.url))

describe("the threat model", () => {
  it("proves each of its rows by tests that exist", () => {
    const rows = readFileSync(`${root}docs/threat-model.md`, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("|") && !line.includes("not stopped: the process"))
    const proven = rows.filter((row) => row.includes(".test"))
    const tables = rows.filter((row) => row.includes("| proven by"))
    const assets = 8
    assert.isAbove(proven.length, 30)
    assert.lengthOf(rows, proven.length + 2 * tables.length + assets)
    const missing = rows
      .flatMap((row) => [...row.matchAll(/`(packages\/[^`]+)`/g)].map(([, path]) => path ?? ""))
      .filter((path) => !existsSync(root + path))
    assert.deepStrictEqual(missing, [])
  })
})
