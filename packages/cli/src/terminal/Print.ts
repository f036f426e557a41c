import { Variables } from "@coffer/client/internal/Variables"
import { escapeInvisible } from "@coffer/domain/base/Invisible"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { type CannotDo, plain } from "../base/Failures.js"
import { Output } from "./Output.js"
import { type Cell, type Page, renderFields, renderList, renderTable } from "./Table.js"

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

/** Standard output as a page for tables. */
const outputPage = Effect.map(Output, ({ isTerminal, width }): Page => ({ isTerminal, width: width("output") }))

/** Standard error as a page: what is shown there is for people. */
const errorPage = Effect.map(Output, ({ width }): Page => ({ isTerminal: true, width: width("error") }))

type Titles = ReadonlyArray<string>
type Rows = ReadonlyArray<ReadonlyArray<Cell>>

/** Prints a table. */
export const printTable = (titles: Titles, rows: Rows) =>
  Effect.flatMap(outputPage, (page) => write(renderTable(titles, rows, page)))

/**
 * Prints a list.
 *
 * @param first the titles of the most important columns
 */
export const printList = (titles: Titles, rows: Rows, first?: Titles) =>
  Effect.flatMap(outputPage, (page) => {
    const { left, text } = renderList(titles, rows, page, first)
    const missing = left.length === 0 ? Effect.void : note(`no room for: ${left.join(", ")}; --wide shows all`)
    return Effect.zipRight(write(text), missing)
  })

/** Prints a list that continues an earlier one: without titles. */
export const printMore = (titles: Titles, rows: Rows, first?: Titles) =>
  Effect.flatMap(outputPage, (page) => {
    const { text } = renderList(titles, rows, page, first)
    return write(page.isTerminal ? text.slice(text.indexOf("\n") + 1) : text)
  })

/** Shows a table on standard error, before a question. */
export const showTable = (titles: Titles, rows: Rows) =>
  Effect.flatMap(errorPage, (page) => show(renderTable(titles, rows, page)))

/** Prints one line per field. */
export const printFields = (record: Readonly<Record<string, Cell>>) =>
  Effect.flatMap(outputPage, (page) => write(renderFields(record, page)))

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

/** Describes a defect by its kind alone: its message may hold a value. */
export const defectSentence = (cause: Cause.Cause<never>): string => {
  const defect = Cause.squash(cause)
  const kind = defect instanceof Error ? defect.name : typeof defect
  return `something is wrong inside coffer (${kind}); please report what you did`
}
