import { assert, describe, it } from "vitest"
import { move, rowsInView } from "../../src/pages/matrix/Movement.js"

const size = { rows: 100, columns: 4, page: 10 }
const press = (key: string, ctrlKey = false) => ({ key, ctrlKey, metaKey: false, altKey: false })
const from = { row: 50, column: 2 }

describe("the keys of the grid", () => {
  it("move by cell, page and end, as the grid pattern of WAI-ARIA says", () => {
    const moves: ReadonlyArray<readonly [ReturnType<typeof press>, number, number]> = [
      [press("ArrowDown"), 51, 2],
      [press("ArrowUp"), 49, 2],
      [press("ArrowLeft"), 50, 1],
      [press("ArrowRight"), 50, 3],
      [press("PageDown"), 60, 2],
      [press("PageUp"), 40, 2],
      [press("Home"), 50, 0],
      [press("End"), 50, 3],
      [press("Home", true), 0, 0],
      [press("End", true), 99, 3],
      [press("ArrowDown", true), 99, 2],
      [press("ArrowLeft", true), 50, 0]
    ]
    for (const [key, row, column] of moves) assert.deepStrictEqual(move(from, key, size), { row, column }, key.key)
  })

  it("stop at the edges", () => {
    assert.deepStrictEqual(move({ row: 0, column: 0 }, press("ArrowUp"), size), { row: 0, column: 0 })
    assert.deepStrictEqual(move({ row: 99, column: 3 }, press("PageDown"), size), { row: 99, column: 3 })
  })

  it("leave other keys alone", () => {
    assert.isNull(move(from, press("x"), size))
    assert.isNull(move(from, { ...press("ArrowLeft"), altKey: true }, size))
  })
})

describe("the rows in view", () => {
  it("are few, whatever the number of rows", () => {
    const { first, last } = rowsInView(34_000, 680, 34, 2_000)
    assert.deepStrictEqual([first, last], [994, 1026])
    assert.deepStrictEqual(rowsInView(0, 680, 34, 3), { first: 0, last: 3 })
  })
})
