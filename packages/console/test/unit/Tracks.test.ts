import type { Matrix, MatrixCell } from "@coffer/domain/secrets/Matrix"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "vitest"
import { countRows, gridOf } from "../../src/pages/matrix/Grid.js"
import { describeGroup, groupName, tracksOf, widthsOf } from "../../src/pages/matrix/Tracks.js"
import { nothingStaged, stage } from "../../src/staging/Staged.js"

const cell = (same: number): MatrixCell => ({
  version: 1,
  updated_at: "2026-01-31T12:00:00.000Z",
  updated_by: "ada@example.com",
  same
})
const environment = (name: string, end?: string, allowed: ReadonlyArray<string> = ["read", "write"]) => ({
  name: EnvName.make(name),
  ...(end !== undefined && { expires_at: end }),
  allowed,
  reveals: true,
  revision: 3,
  etag: '"e"'
})
const end = "2026-02-07T12:00:00.000Z"

/** By name, as the server sends them: three previews come before what lasts. */
const matrix: Matrix = {
  environments: [
    environment("dev"),
    environment("pr-1", end),
    environment("pr-2", end),
    environment("pr-3", end, []),
    environment("prod")
  ],
  others: [],
  data: [
    { key: SecretKey.make("EQUAL"), cells: [cell(1), cell(1), cell(1), null, cell(1)] },
    { key: SecretKey.make("GAP"), cells: [cell(1), cell(1), null, null, cell(1)] },
    { key: SecretKey.make("OTHER"), cells: [cell(1), cell(2), cell(1), null, cell(1)] }
  ]
}
const names = (isOpen: boolean) =>
  tracksOf(gridOf(matrix, nothingStaged).columns, isOpen).map(({ name }) => String(name))

describe("the group of previews", () => {
  it("folds what ends into one column after what lasts, and opens in place", () => {
    assert.deepStrictEqual(names(false), ["dev", "prod", groupName])
    assert.deepStrictEqual(names(true), ["dev", "prod", groupName, "pr-1", "pr-2", "pr-3"])
    const lasting = matrix.environments.filter((one) => one.expires_at === undefined)
    assert.lengthOf(tracksOf(gridOf({ ...matrix, environments: lasting }, nothingStaged).columns, false), 2)
    assert.strictEqual(
      widthsOf(tracksOf(gridOf(matrix, nothingStaged).columns, false)),
      "var(--cell) var(--cell) var(--group)"
    )
  })

  it("keeps the cells of each column, whichever is shown", () => {
    const { columns, rows } = gridOf(matrix, nothingStaged)
    const shown = tracksOf(columns, true).flatMap((track) =>
      track.type === "env" ? [rows[2]?.cells[track.index]?.stored?.same ?? 0] : []
    )
    assert.deepStrictEqual(shown, [1, 1, 2, 1, 0])
  })

  it("counts nothing as missing or different while folded, and everything while open", () => {
    const counted = (areFolded: boolean) => {
      const found = countRows(gridOf(matrix, nothingStaged, { areFolded, base: "prod" }).rows)
      return [found.get("missing"), found.get("different")]
    }
    assert.deepStrictEqual(counted(true), [0, 0])
    assert.deepStrictEqual(counted(false), [1, 1])
  })

  it("says of each key how many previews have it, and what is staged in them", () => {
    const base = { etag: '"e"', revision: 3 }
    const staged = stage(nothingStaged, EnvName.make("pr-1"), base, [[SecretKey.make("GAP"), { type: "delete" }]])
    const { columns, rows } = gridOf(matrix, staged, { areFolded: true })
    const [group] = tracksOf(columns, false).filter((track) => track.type === "group")
    assert.isDefined(group)
    assert.deepStrictEqual(
      rows.map((row) => describeGroup(group, row)),
      [
        "EQUAL in 3 previews: in all, folded",
        "GAP in 3 previews: in 1 of 2, staged in 1, folded",
        "OTHER in 3 previews: in all, folded"
      ]
    )
    // A row stays with the filter of what is staged, though its change is in a folded column.
    assert.deepStrictEqual(
      rows.map(({ marks }) => marks.has("staged")),
      [false, true, false]
    )
  })
})
