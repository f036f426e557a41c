import type { MatrixCell } from "@coffer/domain/secrets/Matrix"
import { SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "vitest"
import type { GridRow, Mark } from "../../src/pages/matrix/Grid.js"
import { groupRows, sortRows } from "../../src/pages/matrix/Groups.js"

const rowOf = (key: string, stored: Partial<MatrixCell> = {}, ...marks: ReadonlyArray<Mark>): GridRow => ({
  key: SecretKey.make(key),
  cells: [
    {
      stored: { version: 1, updated_at: "2026-01-01T00:00:00.000Z", updated_by: "ada@example.com", same: 1, ...stored },
      staged: null,
      differs: false,
      equal: null,
      isOld: false,
      isRequired: false
    }
  ],
  marks: new Set(marks)
})
const keysOf = (rows: ReadonlyArray<{ readonly key: string }>) => rows.map(({ key }) => key)

describe("the groups of the matrix", () => {
  const rows = ["AWS_A", "AWS_B", "AWS_C", "DB_URL", "DB_USER", "PORT"].map((key) => rowOf(key))

  it("have at least three keys of one prefix", () => {
    assert.deepStrictEqual(keysOf(groupRows(rows, new Set())), ["AWS_*", ...keysOf(rows)])
    assert.deepStrictEqual(keysOf(groupRows(rows.slice(1), new Set())), keysOf(rows.slice(1)))
  })

  it("hide their keys when folded, except those with a staged change", () => {
    const folded = new Set(["AWS_", "DB_", "NONE_"])
    assert.deepStrictEqual(keysOf(groupRows(rows, folded)), ["AWS_*", "DB_URL", "DB_USER", "PORT"])
    const staged = rows.map((row) => (row.key === "AWS_B" ? { ...row, marks: new Set<Mark>(["staged"]) } : row))
    assert.deepStrictEqual(keysOf(groupRows(staged, folded)), ["AWS_*", "AWS_B", "DB_URL", "DB_USER", "PORT"])
  })

  it("are made only of keys that have a prefix", () => {
    const odd = ["_A", "_B", "_C", "PORT", "PORTS", "PORTS2"].map((key) => rowOf(key))
    assert.deepStrictEqual(keysOf(groupRows(odd, new Set())), keysOf(odd))
  })
})

describe("the order of the rows of the matrix", () => {
  it("is by name, by the last change, or by the next due date with the others behind", () => {
    const rows = [
      rowOf("A", { updated_at: "2026-01-02T00:00:00.000Z" }),
      rowOf("B", { updated_at: "2026-01-03T00:00:00.000Z", due_at: "2026-03-01T00:00:00.000Z" }),
      rowOf("C", { updated_at: "2026-01-03T00:00:00.000Z" }),
      rowOf("D", { due_at: "2026-02-01T00:00:00.000Z" })
    ]
    assert.deepStrictEqual(keysOf(sortRows(rows, "name")), ["A", "B", "C", "D"])
    assert.deepStrictEqual(keysOf(sortRows(rows, "changed")), ["B", "C", "A", "D"])
    assert.deepStrictEqual(keysOf(sortRows(rows, "due")), ["D", "B", "A", "C"])
  })
})
