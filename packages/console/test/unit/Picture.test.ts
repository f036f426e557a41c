import { assert, describe, it } from "vitest"
import { pictureOf } from "../../src/pages/audit/Picture.js"

const kind = (name: string, ...counts: ReadonlyArray<number>) => ({
  name,
  counts,
  entries: counts.reduce((sum, count) => sum + count, 0)
})

const activity = {
  since: "2026-01-31T12:00:00.000Z",
  seconds: 10_800,
  complete: false,
  entries: 31,
  counts: [21, 10],
  actions: [],
  actors: []
}

describe("the picture of the activity", () => {
  it("stacks five kinds, and what they leave on top", () => {
    const found = ["a", "b", "c", "d", "e", "f"].map((name, index) => kind(name, 5 - index / 2, 0))
    const { columns, kinds, most } = pictureOf({ ...activity, counts: [25, 6] }, found)
    assert.deepStrictEqual(columns, [
      [5, 4.5, 4, 3.5, 3, 5],
      [0, 0, 0, 0, 0, 6]
    ])
    assert.deepStrictEqual(kinds.at(-1), { name: "all others", count: 11, isOne: false })
    assert.strictEqual(most, 25)
  })

  it("says what a column is, and what is left out", () => {
    const { caption, kinds } = pictureOf(activity, [kind("a", 21, 10)])
    assert.deepStrictEqual(kinds, [{ name: "a", count: 31, isOne: true }])
    assert.strictEqual(
      caption,
      "31 entries since 2026-01-31 12:00 UTC; a column is 3 hours; earlier entries are left out"
    )
  })
})
