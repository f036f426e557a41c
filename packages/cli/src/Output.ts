import { Variables } from "@coffer/domain/client/Settings"
import { escapeInvisible } from "@coffer/domain/Invisible"
import { Cause, Effect, Logger } from "effect"
import { writeSync } from "node:fs"
import { CannotDo, plain } from "./Failures.js"

/** Whether standard output is a terminal. */
export const toTerminal = (): boolean => process.stdout.isTTY

/** Writes to standard output. Returns after the write. */
export const write = (content: string | Uint8Array): Effect.Effect<void, CannotDo> =>
  Effect.async((resume) => {
    process.stdout.write(content, (error) =>
      resume(
        error === null || error === undefined
          ? Effect.void
          : Effect.fail(new CannotDo({ message: "standard output cannot be written to" }))
      )
    )
  })

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
  Effect.suspend(() => {
    const shown = toTerminal() ? escapeInvisible(text, "\n\t") : text
    const told = shown === text ? Effect.void : note(`control and invisible characters are shown as escapes; ${hint}`)
    return Effect.zipRight(write(shown), told)
  })

type Cell = string | number | boolean | null | undefined

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

/** Prints a list: the API's response as JSON, or a table. */
export const printList = <A>(
  answer: { readonly data: ReadonlyArray<A> },
  json: boolean,
  columns: Readonly<Record<string, (item: A) => Cell>>,
  empty: string
) =>
  Effect.suspend(() => {
    if (json) return printJson(answer)
    if (answer.data.length === 0) return note(empty)
    const rows = answer.data.map((item) => Object.values(columns).map((cell) => cell(item)))
    return write(renderTable(Object.keys(columns), rows, toTerminal()))
  })

/** Prints a record: the API's response as JSON, or one line per field. */
export const printRecord = (record: Readonly<Record<string, Cell>>, json: boolean) => {
  if (json) return printJson(record)
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  return write(
    Object.entries(record)
      .map(([name, value]) => (toTerminal() ? `${name.padEnd(width)}  ${text(value)}\n` : `${name}\t${text(value)}\n`))
      .join("")
  )
}

/** Prints that something is done; nothing with `--json`, if the API's response is empty. */
export const printDone = (sentence: string, json: boolean) => (json ? Effect.void : printLine(sentence))

/** Whether to use colours: on a terminal, unless NO_COLOR is set (no-color.org). */
export const colours = Effect.map(Variables, (env) => toTerminal() && (env["NO_COLOR"] ?? "") === "")

const writeLine = (line: string) => writeSync(2, `coffer: ${plain(line)}\n`)

/** Writes a line to standard error, in one write. */
export const note = (line: string): Effect.Effect<void> => Effect.ignore(Effect.try(() => writeLine(line)))

/** Writes several lines to standard error, before a question. */
export const show = (text: string): Effect.Effect<void> => Effect.ignore(Effect.try(() => writeSync(2, text)))

/** Logs warnings to standard error, one line each. */
export const warnings = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => writeLine(`warning: ${Array.isArray(message) ? message.join(" ") : String(message)}`))
)

/** Reports a defect by its kind alone: its message may hold a value. */
export const noteDefect = (cause: Cause.Cause<never>): Effect.Effect<void> => {
  const defect = Cause.squash(cause)
  const kind = defect instanceof Error ? defect.name : typeof defect
  return note(`something is wrong inside coffer (${kind}); please report what you did`)
}
