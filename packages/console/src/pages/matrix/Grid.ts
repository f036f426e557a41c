import { isRequired, type RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { dueStateAt } from "@coffer/domain/secrets/DueState"
import type { Matrix, MatrixCell, MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { ends, endingLast } from "../../client/Ending.js"
import { wallMillis } from "../../state/ServerTime.js"
import { type Change, changeOf, type Staged } from "../../staging/Staged.js"

export interface Column extends MatrixEnvironment {
  readonly canRead: boolean
  readonly canWrite: boolean
}

export interface GridCell {
  readonly stored: MatrixCell | null
  readonly staged: Change | null
  /** Whether the stored value is another than that of the nearest secret to the left. */
  readonly differs: boolean
  /** Whether the project declares the key as required here. */
  readonly isRequired: boolean
}

export interface GridRow {
  readonly key: SecretKey
  /** One for each column. */
  readonly cells: ReadonlyArray<GridCell>
  readonly isMissing: boolean
  readonly isDifferent: boolean
  readonly isStaged: boolean
}

export interface Grid {
  /** Those that end come last. */
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<GridRow>
}

/** Which rows a filter may show alone. */
export const filterWords = ["missing", "different", "staged", "removed"] as const

/** Which rows are shown. */
export interface Filter {
  readonly text: string
  readonly only: (typeof filterWords)[number] | null
}

export const noFilter: Filter = { text: "", only: null }

const byKey = (a: GridRow, b: GridRow): number => (a.key < b.key ? -1 : 1)

/** Where keys are required. */
export type Requirements = ReadonlyMap<SecretKey, RequiredIn>

const nothingDeclared: Requirements = new Map()

const cellsOf = (
  key: SecretKey,
  columns: ReadonlyArray<Column>,
  stored: ReadonlyArray<MatrixCell | null>,
  staged: Staged,
  requiredIn: RequiredIn
): ReadonlyArray<GridCell> => {
  let left: MatrixCell | null = null
  return columns.map(({ name }, index) => {
    const cell = stored[index] ?? null
    const differs = cell !== null && left !== null && cell.same !== left.same
    left = cell ?? left
    return { stored: cell, staged: changeOf(staged, name, key), differs, isRequired: isRequired(requiredIn, name) }
  })
}

/** The row of a key. The columns from `counted` on are folded: nothing is missing there, and nothing differs. */
export const rowOf = (
  key: SecretKey,
  columns: ReadonlyArray<Column>,
  stored: ReadonlyArray<MatrixCell | null>,
  staged: Staged,
  declared: Requirements,
  counted = columns.length
): GridRow => {
  const cells = cellsOf(key, columns, stored, staged, declared.get(key) ?? [])
  return {
    key,
    cells,
    isMissing: cells.some(
      ({ stored }, index) => index < counted && stored === null && columns[index]?.canRead === true
    ),
    isDifferent: cells.some(({ differs }, index) => index < counted && differs),
    isStaged: cells.some(({ staged }) => staged !== null)
  }
}

/** The grid of a matrix with what is staged: keys by environments, the stages in their usual order. */
export const gridOf = (
  matrix: Matrix,
  staged: Staged,
  declared: Requirements = nothingDeclared,
  areFolded = false
): Grid => {
  const columns = endingLast(matrix.environments).map((one): Column => ({
    ...one,
    canRead: one.allowed.includes("read"),
    canWrite: one.allowed.includes("write") && one.etag !== null
  }))
  const positions = columns.map(({ name }) => matrix.environments.findIndex((one) => one.name === name))
  const counted = areFolded ? columns.filter((column) => !ends(column)).length : columns.length
  const known = new Set<string>(matrix.data.map(({ key }) => key))
  const rows = matrix.data.map(({ cells, key }) =>
    rowOf(
      key,
      columns,
      positions.map((position) => cells[position] ?? null),
      staged,
      declared,
      counted
    )
  )
  const fresh = new Set([...staged.values()].flatMap(({ changes }) => [...changes.keys()]))
  for (const [key, requiredIn] of declared) {
    if (columns.some(({ canRead, name }) => canRead && isRequired(requiredIn, name))) fresh.add(key)
  }
  const added = [...fresh]
    .filter((key) => !known.has(key))
    .map((key) => rowOf(key, columns, [], staged, declared, counted))
  return { columns, rows: added.length === 0 ? rows : [...rows, ...added].sort(byKey) }
}

/** The rows that a filter lets through. Rows with staged changes stay whatever is filtered for, but not by text. */
export const filterRows = (rows: ReadonlyArray<GridRow>, { only, text }: Filter): ReadonlyArray<GridRow> => {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  if (words.length === 0 && only === null) return rows
  return rows.filter(({ isDifferent, isMissing, isStaged, key }) => {
    const name = key.toLowerCase()
    if (!words.every((word) => name.includes(word))) return false
    if (only === null) return true
    return isStaged || (only === "missing" && isMissing) || (only === "different" && isDifferent)
  })
}

/** How many rows each filter has. */
export const countRows = (rows: ReadonlyArray<GridRow>) => ({
  missing: rows.filter(({ isMissing }) => isMissing).length,
  different: rows.filter(({ isDifferent }) => isDifferent).length,
  staged: rows.filter(({ isStaged }) => isStaged).length
})

/** Describes a cell for screen readers. */
export const describeCell = (
  { differs, isRequired, staged, stored }: GridCell,
  column: Column,
  left: EnvName | null
): string => {
  if (!column.canRead) return "not readable for you"
  const due = dueStateAt(stored?.due_at, wallMillis())
  const parts = [
    stored === null ? (isRequired ? "missing, and required" : "missing") : `version ${stored.version}`,
    ...(stored?.kind === "reference" ? ["a reference"] : []),
    ...(stored?.same === null ? ["damaged"] : []),
    ...(due === null ? [] : [due === "due" ? "due soon" : due]),
    ...(differs ? [left === null ? "differs" : `differs from ${left}`] : []),
    ...(staged === null ? [] : [staged.type === "delete" ? "staged for removal" : "new value staged"])
  ]
  return parts.join(", ")
}

/** The nearest column to the left that has a value. */
export const leftOf = (row: GridRow, columns: ReadonlyArray<Column>, column: number): EnvName | null => {
  for (let index = column - 1; index >= 0; index--) {
    if ((row.cells[index]?.stored ?? null) !== null) return columns[index]?.name ?? null
  }
  return null
}
