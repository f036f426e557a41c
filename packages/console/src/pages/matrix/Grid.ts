import { isNamedProduction } from "@coffer/domain/directory/EnvironmentOrder"
import type { RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { isRequired } from "@coffer/domain/secrets/Required"
import { dayMillis, dueStateAt } from "@coffer/domain/secrets/DueState"
import type { Matrix, MatrixCell, MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { ends, endingLast } from "../../client/Ending.js"
import { wallMillis } from "../../state/ServerTime.js"
import { type Change, changeOf, type Staged } from "../../staging/Staged.js"

export interface Column extends MatrixEnvironment {
  readonly canRead: boolean
  readonly canWrite: boolean
  /** Whether it has the name of production, or is protected: its values must not be those of another environment. */
  readonly isProduction: boolean
}

export interface GridCell {
  readonly stored: MatrixCell | null
  readonly staged: Change | null
  /** Whether the stored value is another than that of the base column. False without a base column. */
  readonly differs: boolean
  /** The environment that has the same value, if this is a value of production. */
  readonly equal: EnvName | null
  /** Whether the stored value has not changed for a year. */
  readonly isOld: boolean
  /** Whether the project declares the key as required here. */
  readonly isRequired: boolean
}

export interface GridRow {
  readonly key: SecretKey
  /** One for each column. */
  readonly cells: ReadonlyArray<GridCell>
  /** The filters that show the row. */
  readonly marks: ReadonlySet<Mark>
}

export interface Grid {
  /** Those that end come last. */
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<GridRow>
  /** The index of the column that the others are compared with; -1: none. */
  readonly base: number
}

/** A finding in any cell of a row, which a filter may look for. */
export const marks = ["missing", "equal", "due", "old", "different", "staged"] as const
export type Mark = (typeof marks)[number]

/** Which rows a filter may show alone. */
export const filterWords = [...marks, "removed"] as const

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

/** A value that nobody has changed for so long is marked. */
const oldMillis = 365 * dayMillis

/** The grid that the rows of a key belong to. */
export interface RowContext {
  readonly columns: ReadonlyArray<Column>
  readonly staged: Staged
  readonly declared: Requirements
  /** The number of columns that are counted: the others are folded. */
  readonly counted: number
  readonly base: number
}

/** Whether two cells have one value. The text of references is equal by nature. */
const haveOneValue = (a: MatrixCell, b: MatrixCell): boolean =>
  a.same !== null && a.same === b.same && a.kind !== "reference" && b.kind !== "reference"

/** The row of a key. */
export const rowOf = (
  key: SecretKey,
  stored: ReadonlyArray<MatrixCell | null>,
  { base, columns, counted, declared, staged }: RowContext
): GridRow => {
  const requiredIn = declared.get(key) ?? []
  const now = wallMillis()
  const old = new Date(now - oldMillis).toISOString()
  const compared = stored[base] ?? null
  const found = new Set<Mark>()
  const equalOf = (cell: MatrixCell): EnvName | null =>
    columns.find((column, index) => {
      const other = stored[index] ?? null
      return other !== null && !column.isProduction && !ends(column) && haveOneValue(cell, other)
    })?.name ?? null
  const cells = columns.map((column, index): GridCell => {
    const { canRead, isProduction, name } = column
    const cell = stored[index] ?? null
    const differs = cell !== null && compared !== null && cell.same !== compared.same
    const equal = cell !== null && isProduction ? equalOf(cell) : null
    const isOld = cell !== null && cell.updated_at < old
    const change = changeOf(staged, name, key)
    if (change !== null) found.add("staged")
    if (index < counted) {
      if (cell === null && canRead) found.add("missing")
      if (differs) found.add("different")
      if (equal !== null) found.add("equal")
      if (isOld) found.add("old")
      if (dueStateAt(cell?.due_at, now) !== null) found.add("due")
    }
    return { stored: cell, staged: change, differs, equal, isOld, isRequired: isRequired(requiredIn, name) }
  })
  return { key, cells, marks: found }
}

interface GridOptions {
  readonly declared?: Requirements
  /** Whether the environments that end are folded: nothing is counted there. */
  readonly areFolded?: boolean
  /** The environment that the others are compared with; true: the first that the caller may read. */
  readonly base?: string | true | null
}

/** The grid of a matrix with what is staged: keys by environments, the stages in their usual order. */
export const gridOf = (
  matrix: Matrix,
  staged: Staged,
  { areFolded = false, base = null, declared = nothingDeclared }: GridOptions = {}
): Grid => {
  const columns = endingLast(matrix.environments).map((one): Column => ({
    ...one,
    canRead: one.allowed.includes("read"),
    canWrite: one.allowed.includes("write") && one.etag !== null,
    isProduction: !ends(one) && (one.protected === true || isNamedProduction(one.name))
  }))
  const context = {
    columns,
    staged,
    declared,
    counted: areFolded ? columns.filter((column) => !ends(column)).length : columns.length,
    base: columns.findIndex(({ canRead, name }) => canRead && (base === true || base === name))
  }
  const positions = columns.map(({ name }) => matrix.environments.findIndex((one) => one.name === name))
  const known = new Set<string>(matrix.data.map(({ key }) => key))
  const rows = matrix.data.map(({ cells, key }) =>
    rowOf(
      key,
      positions.map((position) => cells[position] ?? null),
      context
    )
  )
  const fresh = new Set([...staged.values()].flatMap(({ changes }) => [...changes.keys()]))
  for (const [key, requiredIn] of declared) {
    if (columns.some(({ canRead, name }) => canRead && isRequired(requiredIn, name))) fresh.add(key)
  }
  const added = [...fresh].filter((key) => !known.has(key)).map((key) => rowOf(key, [], context))
  return { columns, rows: added.length === 0 ? rows : [...rows, ...added].sort(byKey), base: context.base }
}

/** The rows that a filter lets through. Rows with staged changes stay whatever is filtered for, but not by text. */
export const filterRows = (rows: ReadonlyArray<GridRow>, { only, text }: Filter): ReadonlyArray<GridRow> => {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  if (words.length === 0 && only === null) return rows
  return rows.filter(({ key, marks }) => {
    const name = key.toLowerCase()
    if (!words.every((word) => name.includes(word))) return false
    return only === null || marks.has("staged") || (only !== "removed" && marks.has(only))
  })
}

/** How many rows each filter has. */
export const countRows = (rows: ReadonlyArray<GridRow>): ReadonlyMap<Mark, number> =>
  new Map(marks.map((mark) => [mark, rows.filter((row) => row.marks.has(mark)).length]))

/** Describes a cell for screen readers. */
export const describeCell = (
  { differs, equal, isOld, isRequired, staged, stored }: GridCell,
  column: Column,
  base: EnvName | null
): string => {
  if (!column.canRead) return "not readable for you"
  const due = dueStateAt(stored?.due_at, wallMillis())
  const parts = [
    stored === null ? (isRequired ? "missing, and required" : "missing") : `version ${stored.version}`,
    ...(stored?.kind === "reference" ? ["a reference"] : []),
    ...(stored?.same === null ? ["damaged"] : []),
    ...(due === null ? [] : [due === "due" ? "due soon" : due]),
    ...(isOld ? ["not changed for a year"] : []),
    ...(equal === null ? [] : [`the same value as in ${equal}`]),
    ...(differs ? [`differs from ${base ?? "the base"}`] : []),
    ...(staged === null ? [] : [staged.type === "delete" ? "staged for removal" : "new value staged"])
  ]
  return parts.join(", ")
}
