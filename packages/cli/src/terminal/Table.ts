import { plain } from "../base/Failures.js"
import { momentText } from "../base/Moments.js"
import { fill, widthOf } from "./Wrap.js"

/** A moment is a `Date`: people get it short, programs whole. */
export type Cell = string | number | boolean | Date | null | undefined

/** Where a table is shown: aligned on a terminal of this width, which may be unknown, or else in lines for programs. */
export interface Page {
  readonly isTerminal: boolean
  readonly width: number | undefined
}

const absent = "-"

export const cellText = (cell: Cell, isTerminal: boolean): string => {
  if (cell === null || cell === undefined) return absent
  if (typeof cell === "boolean") return cell ? "yes" : "no"
  if (cell instanceof Date) return isTerminal ? momentText(cell) : cell.toISOString()
  return plain(String(cell))
}

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
  const cells = rows.map((row) => row.map((cell) => cellText(cell, isTerminal)))
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

/** A column that is longer may be cut down to this width, and no further. */
const narrowest = 16

const cut = (text: string, width: number): string =>
  widthOf(text) <= width ? text : [...text].slice(0, Math.max(width - 1, 0)).join("") + "…"

/** The widths of columns within a limit: the longest yield first. `isWhole` columns keep their width. */
const shares = (
  widths: ReadonlyArray<number>,
  isWhole: ReadonlyArray<boolean>,
  limit: number
): ReadonlyArray<number> => {
  const order = [...widths.keys()].sort(
    (one, other) =>
      Number(isWhole[other]) - Number(isWhole[one]) || (widths[one] ?? 0) - (widths[other] ?? 0) || one - other
  )
  const granted = [...widths]
  let room = limit - gap.length * (widths.length - 1)
  order.forEach((column, index) => {
    const share = isWhole[column] === true ? room : Math.floor(room / (order.length - index))
    granted[column] = Math.min(widths[column] ?? 0, share)
    room -= granted[column]
  })
  return granted
}

/** A list as text, and the titles of the columns without room. */
export interface RenderedList {
  readonly text: string
  readonly left: ReadonlyArray<string>
}

/**
 * Renders a list: a row is one line. On a terminal, columns yield by their priority: long texts are cut, and columns without
 * room are left out. Ids and the most important column are never cut, unless that one alone is too long.
 *
 * @param first the titles of the most important columns, the most important first. The others follow in their order.
 */
export const renderList = (
  titles: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  page: Page,
  first: ReadonlyArray<string> = []
): RenderedList => {
  const { isTerminal, width: limit = Infinity } = page
  const cells = rows.map((row) => row.map((cell) => cellText(cell, isTerminal)))
  if (!isTerminal) return { text: renderTable(titles, rows, page), left: [] }
  const all = [titles.map((title) => title.toUpperCase()), ...cells]
  const widths = titles.map((_, column) => all.reduce((most, row) => Math.max(most, widthOf(row[column] ?? "")), 0))
  const byPriority = [
    ...new Set([...first.map((title) => titles.indexOf(title)).filter((column) => column >= 0), ...titles.keys()])
  ]
  const isWhole = titles.map((title, column) => column === byPriority[0] || title === "id")
  const least = (column: number) => Math.min(widths[column] ?? 0, isWhole[column] === true ? Infinity : narrowest)
  let room = limit
  const isShown = byPriority.map((column, index) => {
    const needed = least(column) + (index === 0 ? 0 : gap.length)
    if (index > 0 && needed > room) return false
    room -= needed
    return true
  })
  const shown = byPriority.filter((_, index) => isShown[index]).sort((one, other) => one - other)
  const granted = shares(
    shown.map((column) => widths[column] ?? 0),
    shown.map((column) => isWhole[column] === true),
    limit
  )
  const line = (row: ReadonlyArray<string>) =>
    shown
      .map((column, index) => {
        const width = granted[index] ?? 0
        const text = cut(row[column] ?? "", width)
        return text + " ".repeat(width - widthOf(text))
      })
      .join(gap)
      .trimEnd()
  return {
    text: all.map((row) => `${line(row)}\n`).join(""),
    left: titles.filter((_, column) => !shown.includes(column))
  }
}

/** Renders a record, one line per field; on a terminal, texts without room go on below. */
export const renderFields = (
  record: Readonly<Record<string, Cell>>,
  { isTerminal, width = Infinity }: Page
): string => {
  const column = Math.max(...Object.keys(record).map((name) => name.length)) + gap.length
  return Object.entries(record)
    .map(([name, value]) => {
      const text = cellText(value, isTerminal)
      if (!isTerminal) return `${name}\t${text}\n`
      const lines = fill(text.split(" "), width - column)
      return lines.map((part, index) => `${(index === 0 ? name : "").padEnd(column)}${part}\n`).join("")
    })
    .join("")
}
