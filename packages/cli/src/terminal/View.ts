import * as Effect from "effect/Effect"
import type { CannotDo } from "../Failures.js"
import type { Output } from "./Output.js"
import { note, printFields, printJson, printLine, printTable } from "./Print.js"
import type { Cell } from "./Table.js"

/** What a command prints: a record of the API for machines, or text for people. */
export interface View {
  /** Nothing where the API returns nothing. */
  readonly json: unknown
  readonly text: Effect.Effect<void, CannotDo, Output>
}

export const printView = (view: View, json: boolean): Effect.Effect<void, CannotDo, Output> => {
  if (!json) return view.text
  return view.json === undefined ? Effect.void : printJson(view.json)
}

/**
 * A list, as a table.
 *
 * @param empty what to say when there is none.
 */
export const listView = <A>(
  list: { readonly data: ReadonlyArray<A> },
  columns: Readonly<Record<string, (item: A) => Cell>>,
  empty: string
): View => ({
  json: list,
  text:
    list.data.length === 0
      ? note(empty)
      : printTable(
          Object.keys(columns),
          list.data.map((item) => Object.values(columns).map((cell) => cell(item)))
        )
})

/** A record, one line per field. */
export const recordView = (record: Readonly<Record<string, Cell>>): View => ({
  json: record,
  text: printFields(record)
})

/** What was done, in a sentence, and the record that the API returned, if any. */
export const doneView = (sentence: string, record?: unknown): View => ({ json: record, text: printLine(sentence) })
