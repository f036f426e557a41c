import { Variables } from "@coffer/domain/client/Settings"
import { escapeInvisible } from "@coffer/domain/Invisible"
import { Cause, Effect, Layer, Logger } from "effect"
import { type CannotDo, plain } from "../Failures.js"
import { Output } from "./Output.js"

/** Whether standard output is a terminal. */
export const toTerminal = Effect.map(Output, ({ isTerminal }) => isTerminal)

/** Writes to standard output. Returns after the write. */
export const write = (content: string | Uint8Array): Effect.Effect<void, CannotDo, Output> =>
  Effect.flatMap(Output, (output) => output.write(content))

export const printLine = (line: string) => write(`${plain(line)}\n`)

/** JSON without invisible characters: they are written as escapes, which a reader of JSON turns back. */
export const toJson = (record: unknown, space?: number): string =>
  escapeInvisible(JSON.stringify(record, null, space), "\n")

/** A record as the API gives it. */
export const printJson = (record: unknown) => write(`${toJson(record, 2)}\n`)

/**
 * Writes a text with secret values. On a terminal, escapes what would act on it, such as the sequences that set its title
 * or its clipboard; line breaks and tabs stay.
 *
 * @param hint how to get the text as it is.
 */
export const writeValues = (text: string, hint: string) =>
  Effect.flatMap(toTerminal, (isTerminal) => {
    const shown = isTerminal ? escapeInvisible(text, "\n\t") : text
    const told = shown === text ? Effect.void : note(`control and invisible characters are shown as escapes; ${hint}`)
    return Effect.zipRight(write(shown), told)
  })

export type Cell = string | number | boolean | null | undefined

const text = (cell: Cell) => (cell === null || cell === undefined ? "-" : plain(String(cell)))

/**
 * Renders a table: aligned, with titles, for people; otherwise one line per row, with tabs between cells, for `cut` and `awk`.
 */
export const renderTable = (
  titles: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  aligned: boolean
): string => {
  const cells = rows.map((row) => row.map(text))
  if (!aligned) return cells.map((row) => `${row.join("\t")}\n`).join("")
  const all = [titles.map((title) => title.toUpperCase()), ...cells]
  const widths = titles.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? "")].length)))
  const line = (row: ReadonlyArray<string>) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length))
      .join("  ")
      .trimEnd()
  return all.map((row) => `${line(row)}\n`).join("")
}

/** Prints a table, as `renderTable` makes it. */
export const printTable = (titles: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>) =>
  Effect.flatMap(toTerminal, (isTerminal) => write(renderTable(titles, rows, isTerminal)))

/** Prints one line per field. */
export const printFields = (record: Readonly<Record<string, Cell>>) => {
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  return Effect.flatMap(toTerminal, (isTerminal) =>
    write(
      Object.entries(record)
        .map(([name, value]) => (isTerminal ? `${name.padEnd(width)}  ${text(value)}\n` : `${name}\t${text(value)}\n`))
        .join("")
    )
  )
}

/** Whether to use colours: on a terminal, unless NO_COLOR is set (no-color.org). */
export const colours = Effect.zipWith(
  Variables,
  toTerminal,
  (env, isTerminal) => isTerminal && (env["NO_COLOR"] ?? "") === ""
)

const noteLine = (line: string) => `coffer: ${plain(line)}\n`

/** Writes a line to standard error. */
export const note = (line: string): Effect.Effect<void, never, Output> =>
  Effect.map(Output, ({ writeError }) => writeError(noteLine(line)))

/** Writes several lines to standard error, before a question. */
export const show = (lines: string): Effect.Effect<void, never, Output> =>
  Effect.map(Output, ({ writeError }) => writeError(lines))

/** Logs warnings to standard error, one line each. */
export const warnings = Layer.unwrapEffect(
  Effect.map(Output, ({ writeError }) =>
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) =>
        writeError(noteLine(`warning: ${Array.isArray(message) ? message.join(" ") : String(message)}`))
      )
    )
  )
)

/** Reports a defect by its kind alone: its message may hold a value. */
export const noteDefect = (cause: Cause.Cause<never>): Effect.Effect<void, never, Output> => {
  const defect = Cause.squash(cause)
  const kind = defect instanceof Error ? defect.name : typeof defect
  return note(`something is wrong inside coffer (${kind}); please report what you did`)
}
