import type { Matrix, MatrixCell } from "@coffer/domain/secrets/Matrix"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "vitest"
import { countRows, describeCell, filterRows, gridOf, noFilter } from "../../src/pages/matrix/Grid.js"
import { nothingStaged, stage } from "../../src/staging/Staged.js"

const recently = new Date(Date.now() - 86_400_000).toISOString()

const cell = (same: number | null, version = 1): MatrixCell => ({
  version,
  updated_at: recently,
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

  it("marks what differs from a base column, and without one nothing", () => {
    const differing = (base: string | true | null) =>
      gridOf(matrix, nothingStaged, { base }).rows.map(({ cells }) => cells.map(({ differs }) => differs))
    const none = [false, false, false]
    assert.deepStrictEqual(differing(null), [none, none, none])
    assert.deepStrictEqual(differing("nowhere"), [none, none, none])
    assert.deepStrictEqual(differing("dev"), [none, none, [false, false, true]])
    assert.deepStrictEqual(differing(true), differing("dev"))
    assert.deepStrictEqual(differing("prod"), [none, none, [true, true, false]])
  })

  it("marks a value of production that another environment has too, except references and previews", () => {
    const equal = (given: Matrix) => gridOf(given, nothingStaged).rows.map(({ cells }) => cells[2]?.equal ?? null)
    assert.deepStrictEqual(
      equal(matrix),
      ["dev", "dev", null].map((name) => name && EnvName.make(name))
    )
    const named = (name: string, more = {}) => ({ ...environment(name), ...more })
    const refers = { ...cell(1), kind: "reference" as const }
    const guarded = [named("dev"), named("other", { protected: true }), named("pr-1", { expires_at: recently })]
    const rows = [row("EQUAL", cell(1), cell(1), null), row("REFERS", refers, refers, null)]
    const { rows: found } = gridOf({ environments: guarded, others: [], data: rows }, nothingStaged)
    assert.deepStrictEqual(
      found.map(({ cells }) => cells.map(({ equal }) => equal !== null)),
      [
        [false, true, false],
        [false, false, false]
      ]
    )
    const copied = [row("COPIED", null, cell(1), cell(1))]
    const { rows: preview } = gridOf({ environments: guarded, others: [], data: copied }, nothingStaged)
    assert.isFalse(preview[0]?.marks.has("equal"))
  })

  it("has a row for a key required where the caller may read, though no environment has it", () => {
    const declared = new Map<SecretKey, "*" | ReadonlyArray<EnvName>>([
      [SecretKey.make("GAP"), [EnvName.make("staging")]],
      [SecretKey.make("NEEDED"), "*"],
      [SecretKey.make("ELSEWHERE"), [EnvName.make("qa")]],
      [SecretKey.make("OPTIONAL"), []]
    ])
    const { columns, rows } = gridOf(matrix, nothingStaged, { declared })
    assert.deepStrictEqual(
      rows.map(({ key }) => String(key)),
      ["EQUAL", "GAP", "NEEDED", "OTHER"]
    )
    const [, gap, needed] = rows
    assert.isTrue(needed?.marks.has("missing"))
    assert.strictEqual(describeCell(gap!.cells[1]!, columns[1]!, null), "missing, and required")
    assert.strictEqual(describeCell(needed.cells[2]!, columns[2]!, null), "missing, and required")
  })

  it("says in words what a cell shows", () => {
    const compared = gridOf(matrix, nothingStaged, { base: "staging" })
    const [equal, gap, other] = compared.rows
    const [, staging, prod] = grid.columns
    assert.strictEqual(describeCell(gap!.cells[1]!, staging!, null), "missing")
    assert.strictEqual(
      describeCell(other!.cells[2]!, prod!, EnvName.make("staging")),
      "version 1, differs from staging"
    )
    assert.strictEqual(describeCell(equal!.cells[2]!, prod!, null), "version 1, the same value as in dev")
    assert.strictEqual(
      describeCell({ ...other!.cells[0]!, isOld: true }, prod!, null),
      "version 1, not changed for a year"
    )
    const late = { ...gap!.cells[0]!, stored: { ...cell(1), due_at: "2026-02-01T00:00:00.000Z" } }
    assert.strictEqual(describeCell(late, staging!, null), "version 1, overdue")
    const refers = { ...gap!.cells[0]!, stored: { ...cell(1), kind: "reference" as const } }
    assert.strictEqual(describeCell(refers, staging!, null), "version 1, a reference")
    assert.strictEqual(describeCell(other!.cells[0]!, { ...prod!, canRead: false }, null), "not readable for you")
  })

  it("counts and filters what is missing somewhere, what differs, and what a text is part of", () => {
    const { rows } = gridOf(matrix, nothingStaged, { base: "dev" })
    assert.deepStrictEqual(Object.fromEntries(countRows(rows)), {
      missing: 1,
      equal: 2,
      due: 0,
      old: 0,
      different: 1,
      staged: 0
    })
    const shown = (filter: Partial<typeof noFilter>) =>
      filterRows(rows, { ...noFilter, ...filter }).map(({ key }) => String(key))
    assert.deepStrictEqual(shown({ only: "missing" }), ["GAP"])
    assert.deepStrictEqual(shown({ only: "different" }), ["OTHER"])
    assert.deepStrictEqual(shown({ only: "equal" }), ["EQUAL", "GAP"])
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
    assert.isTrue(rows[1]?.marks.has("staged"))
  })

  it("marks what is due, and what nobody has changed for a year, but not in folded columns", () => {
    const old = { ...cell(1), updated_at: "2020-01-31T12:00:00.000Z" }
    const late = { ...cell(1), due_at: recently }
    const ending = { ...environment("pr-1"), expires_at: "2999-01-31T12:00:00.000Z" }
    const given = {
      environments: [environment("dev"), ending],
      others: [],
      data: [row("LATE", late, null), row("OLD", old, null), row("THERE", cell(1), { ...old, ...late })]
    }
    const marked = (areFolded: boolean) =>
      gridOf(given, nothingStaged, { areFolded }).rows.map(({ marks }) => [...marks].sort().join(" "))
    assert.deepStrictEqual(marked(true), ["due", "old", ""])
    assert.deepStrictEqual(marked(false), ["due missing", "missing old", "due"])
  })

  it("does not call a key missing where the caller may not read", () => {
    const hidden = { ...matrix, environments: [environment("dev"), environment("prod", []), environment("staging")] }
    const { rows } = gridOf({ ...hidden, data: [row("KEY", cell(1), null, cell(1))] }, nothingStaged)
    assert.isFalse(rows[0]?.marks.has("missing"))
  })
})
