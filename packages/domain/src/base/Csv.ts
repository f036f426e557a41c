import * as Either from "effect/Either"

/** A record of a CSV file, with its first line. */
export interface CsvRecord {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

export interface CsvMistake {
  readonly line: number
  readonly problem: string
}

/** The character between cells: the one that the first line has most. Some spreadsheets write semicolons or tabs. */
const delimiterOf = (text: string) => {
  const [first = ""] = /^[^\r\n]*/.exec(text) ?? []
  const count = (delimiter: string) => first.split(delimiter).length
  return ([",", ";", "\t"] as const).reduce((most, next) => (count(next) > count(most) ? next : most))
}

/**
 * Reads CSV (RFC 4180): cells in quotes may contain delimiters, line breaks and doubled quotes. A byte order mark and empty
 * lines are skipped. Fails at a quote that hides what follows it.
 */
export const readCsv = (source: string): Either.Either<ReadonlyArray<CsvRecord>, CsvMistake> => {
  const text = source.replace(/^\ufeff/, "")
  const delimiter = delimiterOf(text)
  const records: Array<CsvRecord> = []
  const quotedCell = /"((?:[^"]|"")*)"/y
  const plainCell = { ",": /[^,\r\n]*/y, ";": /[^;\r\n]*/y, "\t": /[^\t\r\n]*/y }[delimiter]
  let line = 1
  let at = 0
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at
    const found = form.exec(text)
    at += found?.[0].length ?? 0
    return found
  }
  while (at < text.length) {
    const first = line
    const cells: Array<string> = []
    for (;;) {
      if (text[at] === '"') {
        const inside = take(quotedCell)?.[1]
        if (inside === undefined) return Either.left({ line, problem: "a quote is opened and never closed" })
        line += inside.split("\n").length - 1
        cells.push(inside.replaceAll('""', '"'))
        if (at < text.length && !`${delimiter}\r\n`.includes(text[at] ?? "")) {
          return Either.left({ line, problem: "text follows a closing quote: double the quotes within a cell" })
        }
      } else cells.push(take(plainCell)?.[0] ?? "")
      if (text[at] !== delimiter) break
      at += 1
    }
    if (text[at] === "\r") at += text[at + 1] === "\n" ? 2 : 1
    else if (text[at] === "\n") at += 1
    line += 1
    if (cells.some((cell) => cell.trim() !== "")) records.push({ line: first, cells })
  }
  return Either.right(records)
}
