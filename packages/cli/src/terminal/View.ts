import * as Effect from "effect/Effect"
import type { CannotDo } from "../base/Failures.js"
import { momentCell } from "../base/Moments.js"
import { paged, wide } from "./Listing.js"
import { Output } from "./Output.js"
import { shortIds } from "./ShortForm.js"
import { note, printFields, printJson, printLine, printList } from "./Print.js"
import type { Cell } from "./Table.js"

/** The output of a command: a record of the API for machines, or text for people. */
export interface View {
  /** Nothing where the API returns nothing. */
  readonly json: unknown
  readonly text: Effect.Effect<void, CannotDo, Output>
}

export const printView = (view: View, json: boolean): Effect.Effect<void, CannotDo, Output> => {
  if (!json) return view.text
  return view.json === undefined ? Effect.void : printJson(view.json)
}

/** How a list is shown. */
export interface ListOptions {
  readonly json: boolean
  readonly wide: boolean
}

/** Prints a list without secret values, at a terminal through the pager if it is long. */
export const printListView = (view: View, options: ListOptions): Effect.Effect<void, CannotDo, Output> =>
  printView({ ...view, text: paged(options.wide ? wide(view.text) : view.text) }, options.json)

/**
 * A list, as a table.
 *
 * @param empty what to say when there is none.
 * @param first the columns that stay longest where the terminal is narrow; the others follow in their order
 * @param next what the ids of the rows are for, as a command: a terminal shows it, and the beginnings of the ids
 */
export const listView = <A>(
  list: { readonly data: ReadonlyArray<A> },
  columns: Readonly<Record<string, (item: A) => Cell>>,
  empty: string,
  first?: ReadonlyArray<string>,
  next?: string
): View => {
  const titles = Object.keys(columns)
  const rows = list.data.map((item) => Object.values(columns).map((cell) => cell(item)))
  if (rows.length === 0) return { json: list, text: note(empty) }
  if (next === undefined) return { json: list, text: printList(titles, rows, first) }
  const text = Effect.flatMap(Output, ({ isTerminal, width }) => {
    if (!isTerminal) return printList(titles, rows, first)
    if (width("output") === undefined) return Effect.zipRight(printList(titles, rows, first), note(next))
    const at = titles.indexOf("id")
    const short = shortIds(rows.map((row) => String(row[at])))
    const shown = rows.map((row) => row.map((cell, index) => (index === at ? short(String(cell)) : cell)))
    return Effect.zipRight(printList(titles, shown, first && [...new Set(["id", ...first])]), note(next))
  })
  return { json: list, text }
}

/** A field of a record of the API, for people: `created_at` is `created at`, a moment, and `is_superadmin` `superadmin`. */
const shownField = ([name, value]: readonly [string, Cell]): readonly [string, Cell] => [
  name.replace(/^is_/, "").replaceAll("_", " "),
  name.endsWith("_at") && typeof value === "string" ? momentCell(value) : value
]

/** A record of the API, one line per field. */
export const recordView = (record: Readonly<Record<string, Cell>>): View => ({
  json: record,
  text: printFields(Object.fromEntries(Object.entries(record).map(shownField)))
})

/** Returns the view of a completed action: a sentence, and the record that the API returned, if any. */
export const doneView = (sentence: string, record?: unknown): View => ({ json: record, text: printLine(sentence) })
