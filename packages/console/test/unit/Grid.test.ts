import type { Matrix, MatrixCell } from "@coffer/domain/secrets/Matrix"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "vitest"
import { countRows, describeCell, filterRows, gridOf, leftOf, noFilter } from "../../src/pages/matrix/Grid.js"
import { nothingStaged, stage } from "../../src/staging/Staged.js"

const cell = (same: number | null, version = 1): MatrixCell => ({
  version,
  updated_at: "2026-01-31T12:00:00.000Z",
  updated_by: "ada@example.com",
  same
})
const environment = (name: string, allowed: ReadonlyArray<string> = ["read", "write"]) => ({
  name: EnvName.make(name),
  allowed,
  reveals: true,
  revision: allowed.length === 0 ? null : 3,
  etag: allowed.length === 0 ? null : '"e"'
})
const row = (key: string, ...cells: ReadonlyArray<MatrixCell | null>) => ({ key: SecretKey.make(key), cells })

/** By name, as the server sends them. */
const matrix: Matrix = {
  environments: [environment("dev"), environment("prod"), environment("staging", ["read"])],
  others: [],
  data: [
    row("EQUAL", cell(1), cell(1), cell(1)),
    row("GAP", cell(1), cell(1), null),
    row("OTHER", cell(1), cell(2), cell(1))
  ]
}

describe("the grid of a matrix", () => {
  const grid = gridOf(matrix, nothingStaged)

  it("has the stages in their usual order, and their cells with them", () => {
    assert.deepStrictEqual(
      grid.columns.map(({ name }) => name),
      ["dev", "staging", "prod"].map((name) => EnvName.make(name))
    )
    assert.deepStrictEqual(
      grid.rows.map(({ cells }) => cells.map(({ stored }) => stored?.same ?? 0)),
      [
        [1, 1, 1],
        [1, 0, 1],
        [1, 1, 2]
      ]
    )
  })

  it("marks a value that differs from its nearest left neighbour's", () => {
    assert.deepStrictEqual(
      grid.rows.map(({ cells }) => cells.map(({ differs }) => differs)),
      [
        [false, false, false],
        [false, false, false],
        [false, false, true]
      ]
    )
    const [, , other] = grid.rows
    assert.strictEqual(other && leftOf(other, grid.columns, 2), "staging")
  })

  it("has a row for a key required where the caller may read, though no environment has it", () => {
    const declared = new Map<SecretKey, "*" | ReadonlyArray<EnvName>>([
      [SecretKey.make("GAP"), [EnvName.make("staging")]],
      [SecretKey.make("NEEDED"), "*"],
      [SecretKey.make("ELSEWHERE"), [EnvName.make("qa")]],
      [SecretKey.make("OPTIONAL"), []]
    ])
    const { columns, rows } = gridOf(matrix, nothingStaged, declared)
    assert.deepStrictEqual(
      rows.map(({ key }) => String(key)),
      ["EQUAL", "GAP", "NEEDED", "OTHER"]
    )
    const [, gap, needed] = rows
    assert.isTrue(needed?.isMissing)
    assert.strictEqual(describeCell(gap!.cells[1]!, columns[1]!, null), "missing, and required")
    assert.strictEqual(describeCell(needed.cells[2]!, columns[2]!, null), "missing, and required")
  })

  it("says in words what a cell shows", () => {
    const [, gap, other] = grid.rows
    const [, staging, prod] = grid.columns
    assert.strictEqual(describeCell(gap!.cells[1]!, staging!, null), "missing")
    assert.strictEqual(
      describeCell(other!.cells[2]!, prod!, EnvName.make("staging")),
      "version 1, differs from staging"
    )
    const late = { ...gap!.cells[0]!, stored: { ...cell(1), due_at: "2026-02-01T00:00:00.000Z" } }
    assert.strictEqual(describeCell(late, prod!, null), "version 1, overdue")
    const refers = { ...gap!.cells[0]!, stored: { ...cell(1), kind: "reference" as const } }
    assert.strictEqual(describeCell(refers, prod!, null), "version 1, a reference")
    assert.strictEqual(describeCell(other!.cells[0]!, { ...prod!, canRead: false }, null), "not readable for you")
  })

  it("counts and filters what is missing somewhere, what differs, and what a text is part of", () => {
    assert.deepStrictEqual(countRows(grid.rows), { missing: 1, different: 1, staged: 0 })
    const shown = (filter: Partial<typeof noFilter>) =>
      filterRows(grid.rows, { ...noFilter, ...filter }).map(({ key }) => String(key))
    assert.deepStrictEqual(shown({ only: "missing" }), ["GAP"])
    assert.deepStrictEqual(shown({ only: "different" }), ["OTHER"])
    assert.deepStrictEqual(shown({ text: "  e R " }), ["OTHER"])
  })

  it("has a row for a staged key that exists nowhere yet, in its place", () => {
    const staged = stage(nothingStaged, EnvName.make("dev"), { etag: '"e"', revision: 3 }, [
      [SecretKey.make("FRESH"), { type: "delete" }]
    ])
    const { rows } = gridOf(matrix, staged)
    assert.deepStrictEqual(
      rows.map(({ key }) => String(key)),
      ["EQUAL", "FRESH", "GAP", "OTHER"]
    )
    assert.isTrue(rows[1]?.isStaged)
  })

  it("does not call a key missing where the caller may not read", () => {
    const hidden = { ...matrix, environments: [environment("dev"), environment("prod", []), environment("staging")] }
    const { rows } = gridOf({ ...hidden, data: [row("KEY", cell(1), null, cell(1))] }, nothingStaged)
    assert.isFalse(rows[0]?.isMissing)
  })
})
