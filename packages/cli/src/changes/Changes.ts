import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import { noteWarnings } from "./Warnings.js"
import { note, printJson, printTable } from "../terminal/Print.js"

/** Prints the result of a write or a dry run of many secrets: a row for each key, and the totals on standard error. */
export const printChanges = Effect.fnUntraced(function* (
  written: BundleWritten,
  options: { readonly json: boolean; readonly dryRun: boolean; readonly place: string; readonly rows: boolean }
) {
  yield* noteWarnings(written, options.place)
  if (options.json) return yield* printJson(written)
  const rows = written.data.map(({ change, key, version }) => [key, change, version])
  if (options.rows && rows.length > 0) yield* printTable(["key", "change", "version"], rows)
  const count = (change: string) => written.data.filter((each) => each.change === change).length
  const deleted = count("deleted") === 0 ? "" : `${count("deleted")} deleted, `
  const sum = `${count("created")} created, ${count("updated")} updated, ${deleted}${count("unchanged")} unchanged`
  const { left_out: leftOut = 0 } = written
  if (leftOut > 0)
    yield* note(`${options.place}: ${leftOut} left out, because you may not read them there or write them here`)
  yield* note(options.dryRun ? `${options.place}: would be ${sum}; nothing was written` : `${options.place}: ${sum}`)
})
