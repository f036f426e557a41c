import type { SecretKey } from "@coffer/domain/base/Names"
import type { Column, GridRow } from "./Grid.js"
import { isGroup, type ShownRow } from "./Groups.js"
import type { Model } from "./Model.js"

const keyAt = ({ shown }: Model, row: number): ShownRow["key"] | null => shown.peek()[row]?.key ?? null

/** The keys that a row stands for: all of a group. */
const keysOf = (row: ShownRow): ReadonlyArray<SecretKey> => (isGroup(row) ? row.rows.map(({ key }) => key) : [row.key])

/** Chooses a row of those that are shown, or all of a group, or not any more. The next range begins there. */
export const toggleChoice = (model: Model, index: number): void => {
  const row = model.shown.peek()[index]
  if (row === undefined) return
  const next = new Set(model.chosen.peek())
  const keys = keysOf(row)
  if (keys.every((key) => next.has(key))) for (const key of keys) next.delete(key)
  else for (const key of keys) next.add(key)
  model.anchor.value = row.key
  model.chosen.value = next
}

/** The keys of a range. The head of an open group stands for none: its rows are of the range themselves. */
const between = (rows: ReadonlyArray<ShownRow>, a: number, b: number): ReadonlyArray<SecretKey> =>
  rows.slice(Math.min(a, b), Math.max(a, b) + 1).flatMap((row) => (isGroup(row) && row.isOpen ? [] : keysOf(row)))

/** Chooses the rows from the anchor to a row; from the cursor's row, if there is no anchor. */
export const chooseRange = (model: Model, cursor: number, to: number): void => {
  const rows = model.shown.peek()
  const anchor = rows.findIndex(({ key }) => key === model.anchor.peek())
  const begin = anchor === -1 ? cursor : anchor
  model.anchor.value = keyAt(model, begin)
  model.chosen.value = new Set([...model.chosen.peek(), ...between(rows, begin, to)])
}

/** As `chooseRange`, when the cursor moves: what it leaves behind is not chosen any more. */
export const extendRange = (model: Model, cursor: number, to: number): void => {
  const rows = model.shown.peek()
  const anchor = rows.findIndex(({ key }) => key === model.anchor.peek())
  const left = new Set(anchor === -1 ? [] : between(rows, anchor, cursor))
  model.chosen.value = new Set([...model.chosen.peek()].filter((key) => !left.has(key)))
  chooseRange(model, cursor, to)
}

/** Chooses all rows that the filter shows. */
export const chooseShown = (model: Model): void => {
  model.chosen.value = new Set([...model.chosen.peek(), ...model.filtered.peek().map(({ key }) => key)])
}

export const chooseNone = (model: Model): void => {
  model.anchor.value = null
  model.chosen.value = new Set()
}

/** The chosen rows that exist. */
export const chosenRows = ({ chosen, grid }: Model): ReadonlyArray<GridRow> =>
  grid.value.rows.filter(({ key }) => chosen.value.has(key))

/** The keys of rows that have a secret in a column. */
export const keysIn = (
  rows: ReadonlyArray<GridRow>,
  { columns }: { readonly columns: ReadonlyArray<Column> },
  column: Column
) => {
  const index = columns.indexOf(column)
  return rows.filter(({ cells }) => (cells[index]?.stored ?? null) !== null).map(({ key }) => key)
}
