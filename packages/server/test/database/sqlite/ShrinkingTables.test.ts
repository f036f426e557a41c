import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { shrinkingTables } from "@coffer/server/database/sqlite/ShrinkingTables"
import { assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("../../../src", import.meta.url))

/**
 * The tables that statements of the features delete from. Those of an engine clean up after its own triggers and copies, and
 * migrations run before there are snapshots.
 */
const deletedFrom = (): ReadonlySet<string> => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/^database\/(sqlite|postgres|copy|migrations)\//.test(file)
  )
  const texts = files.map((file) => readFileSync(join(root, file), "utf8"))
  const found = texts.flatMap((text) => [...text.matchAll(/DELETE FROM (\w+)|makePurge\(\{\s*table: "(\w+)"/g)])
  return new Set(found.map(([, table, ofPurge]) => table ?? ofPurge ?? ""))
}

describe("the tables whose rows are deleted", () => {
  it("are known to the snapshots, whose counts may shrink meanwhile in these alone", () => {
    assert.deepStrictEqual([...shrinkingTables].sort(), [...deletedFrom()].sort())
  })
})
