/** Comma-separated values (RFC 4180), for spreadsheets. */
import { escapeInvisible } from "./Invisible.js"

export type CsvCell = string | number | null

/** Spreadsheets run a cell that begins like this as a formula. Some start a cell at a semicolon as well, even within quotes. */
const formula = /((?:^|;)\s*)(?=[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/gu

const field = (cell: CsvCell): string => {
  if (typeof cell !== "string") return String(cell ?? "")
  // An apostrophe makes it a text. Without control characters, an entry is one line.
  const text = escapeInvisible(cell).replaceAll(formula, "$1'")
  return /[",;']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One line of a file. */
export const csvLine = (cells: ReadonlyArray<CsvCell>): string => `${cells.map(field).join(",")}\r\n`
