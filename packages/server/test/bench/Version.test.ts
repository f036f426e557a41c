import { assert, describe, it } from "@effect/vitest"
import { currentVersion, rowsOf } from "../../bench/support/version.mjs"

const measured = (row: string, digest: string, ratio: number) => ({ row, against: "node", ratio, version: { digest } })

describe("the table of figures", () => {
  it("has no row that was measured with other programs, or before rows had a version", () => {
    const runs = [{ results: [measured("read", "old", 1), { row: "write", against: "node", ratio: 2 }] }]
    assert.deepStrictEqual(rowsOf(runs, "new"), [])
  })

  it("has the last figures of a row, and takes rows from several runs", () => {
    const runs = [
      { results: [measured("read", "new", 1), measured("write", "new", 2)] },
      { results: [measured("read", "new", 3), measured("write", "old", 4)] }
    ]
    assert.deepStrictEqual(rowsOf(runs, "new"), [measured("read", "new", 3), measured("write", "new", 2)])
  })

  it("knows the version of this working tree", () => {
    const { commit, date, digest, version } = currentVersion()
    assert.match(commit, /^[0-9a-f]{7,}$/)
    assert.match(date, /^\d{4}-\d\d-\d\d$/)
    assert.match(digest, /^[0-9a-f]{64}$/)
    assert.match(version, /^\d+\.\d+\.\d+/)
  })
})
