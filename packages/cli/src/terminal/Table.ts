import { plain } from "../Failures.js"
import { fill, widthOf } from "./Wrap.js"

export type Cell = string | number | boolean | null | undefined

/** Where a table is shown: aligned on a terminal of this width, which may be unknown, or else in lines for programs. */
export interface Page {
  readonly isTerminal: boolean
  readonly width: number | undefined
}

const absent = "-"

export const cellText = (cell: Cell): string => (cell === null || cell === undefined ? absent : plain(String(cell)))

const gap = "  "

/** The columns that stand beside each other: from the left, each that leaves room. */
const fitting = (widths: ReadonlyArray<number>, limit: number): ReadonlyArray<number> => {
  const chosen: Array<number> = []
  let left = limit
  for (const [column, width] of widths.entries()) {
    const needed = width + (chosen.length === 0 ? 0 : gap.length)
    if (chosen.length > 0 && needed > left) continue
    chosen.push(column)
    left -= needed
  }
  return chosen
}

/**
 * Renders a table. On a terminal it is aligned, with titles; columns without room follow each row in indented lines, with their
 * titles, and are left out where they are empty. For programs a row is a line, with tabs between its cells.
 */
export const renderTable = (
  titles: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  { isTerminal, width = Infinity }: Page
): string => {
  const cells = rows.map((row) => row.map(cellText))
  if (!isTerminal) return cells.map((row) => `${row.join("\t")}\n`).join("")
  const all = [titles.map((title) => title.toUpperCase()), ...cells]
  const widths = titles.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))))
  const beside = fitting(widths, width)
  const below = titles.flatMap((title, column) => (beside.includes(column) ? [] : [{ title, column }]))
  const line = (row: ReadonlyArray<string>) =>
    beside
      .map((column) => (row[column] ?? "") + " ".repeat((widths[column] ?? 0) - widthOf(row[column] ?? "")))
      .join(gap)
      .trimEnd()
  const linesBelow = (row: ReadonlyArray<string>) =>
    below.flatMap(({ column, title }) => {
      const text = row[column] ?? ""
      if (text === absent || text === "") return []
      return fill(`${title}: ${text}`.split(" "), width - 2 * gap.length).map((part, index) =>
        index === 0 ? gap + part : gap + gap + part
      )
    })
  const [head = [], ...body] = all
  return [line(head), ...body.flatMap((row) => [line(row), ...linesBelow(row)])].map((text) => `${text}\n`).join("")
}

/** Renders a record, one line per field; on a terminal, texts without room go on below. */
export const renderFields = (
  record: Readonly<Record<string, Cell>>,
  { isTerminal, width = Infinity }: Page
): string => {
  const column = Math.max(...Object.keys(record).map((name) => name.length)) + gap.length
  return Object.entries(record)
    .map(([name, value]) => {
      const text = cellText(value)
      if (!isTerminal) return `${name}\t${text}\n`
      const lines = fill(text.split(" "), width - column)
      return lines.map((part, index) => `${(index === 0 ? name : "").padEnd(column)}${part}\n`).join("")
    })
    .join("")
}
