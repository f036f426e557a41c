import type { GridRow } from "./Grid.js"

/** The head of the keys with one prefix, such as `AWS_`. Its key is none of a secret. */
export interface GroupRow {
  readonly key: `${string}*`
  readonly prefix: string
  readonly rows: ReadonlyArray<GridRow>
  readonly isOpen: boolean
}

/** A row of the grid as it is shown. */
export type ShownRow = GridRow | GroupRow

export const isGroup = (row: ShownRow): row is GroupRow => "rows" in row

const minKeys = 3

const prefixOf = ({ key }: GridRow): string => /^[^_.-]+[_.-]/.exec(key)?.[0] ?? ""

/** Puts a head before the rows of each prefix. Folded, a group shows only its staged rows and the selected one. */
export const groupRows = (
  rows: ReadonlyArray<GridRow>,
  folded: ReadonlySet<string>,
  selected: string | null = null
): ReadonlyArray<ShownRow> => {
  const runs: Array<{ readonly prefix: string; readonly run: Array<GridRow> }> = []
  for (const row of rows) {
    const prefix = prefixOf(row)
    const last = runs.at(-1)
    if (last?.prefix === prefix) last.run.push(row)
    else runs.push({ prefix, run: [row] })
  }
  return runs.flatMap(({ prefix, run }): ReadonlyArray<ShownRow> => {
    if (prefix === "" || run.length < minKeys) return run
    const isOpen = !folded.has(prefix)
    const head: GroupRow = { key: `${prefix}*`, prefix, rows: run, isOpen }
    return [head, ...run.filter(({ key, marks }) => isOpen || marks.has("staged") || key === selected)]
  })
}

/** The orders of the rows. */
export const sorts = ["name", "changed", "due"] as const
export type Sort = (typeof sorts)[number]

/** The text by which a row is sorted: the time of its last change, or of its next due date. */
const timesOf = ({ cells }: GridRow, of: "updated_at" | "due_at"): ReadonlyArray<string> =>
  cells.flatMap(({ stored }) => stored?.[of] ?? []).sort()

/** Sorts rows that are in the order of their names, which rows without a time keep, at the end. */
export const sortRows = (rows: ReadonlyArray<GridRow>, sort: Sort): ReadonlyArray<GridRow> => {
  if (sort === "name") return rows
  const timed = rows.map((row) => ({
    row,
    time: sort === "due" ? timesOf(row, "due_at")[0] : timesOf(row, "updated_at").at(-1)
  }))
  const direction = sort === "due" ? 1 : -1
  return timed
    .sort((a, b) => {
      if (a.time === undefined || b.time === undefined)
        return Number(a.time === undefined) - Number(b.time === undefined)
      return a.time < b.time ? -direction : a.time > b.time ? direction : 0
    })
    .map(({ row }) => row)
}
