import { LogCursor } from "@coffer/domain/audit/AuditCursor"
import { auditCsv, auditCsvHead } from "@coffer/domain/audit/AuditCsv"
import type { AuditEntry } from "@coffer/domain/audit/AuditEntry"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { useEffect, useRef } from "preact/hooks"
import type { Failure } from "../../client/Calls.js"
import { start } from "../../client/Run.js"
import { Problem } from "../../kit/Problem.js"
import { saveFile } from "../../kit/SaveFile.js"
import { readPage, type Typed } from "./Filters.js"

/** A browser holds the file in its memory until it is saved. */
const maxEntries = 10_000
const maxCharacters = 50_000_000

const decodeCursor = Schema.decodeUnknownOption(LogCursor)

const forms = {
  CSV: { type: "text/csv", ending: "csv", head: auditCsvHead, between: "", of: auditCsv, end: "" },
  JSON: {
    type: "application/json",
    ending: "json",
    head: '{"data":[\n',
    between: ",\n",
    of: (entries: ReadonlyArray<AuditEntry>) => entries.map((entry) => JSON.stringify(entry)).join(",\n"),
    end: "\n]}\n"
  }
} as const
type Form = keyof typeof forms

interface Progress {
  readonly done: number
  readonly of: number
}

interface Exported {
  readonly parts: ReadonlyArray<string>
  readonly entries: number
  /** Whether there are no further entries. */
  readonly isWhole: boolean
}

/** Reads the entries that fit the filters, page after page, newest first, up to the limits. */
const exported = Effect.fnUntraced(function* (
  org: OrgName,
  typed: Typed,
  form: Form,
  note: (progress: Progress) => void
) {
  const { between, end, head, of } = forms[form]
  const parts: Array<string> = [head]
  let [entries, characters] = [0, 0]
  let after: typeof LogCursor.Type | undefined
  for (;;) {
    const { data, pagination } = yield* readPage(org, typed, after)
    const text = of(data)
    if (entries > 0 && data.length > 0) parts.push(between)
    parts.push(text)
    entries += data.length
    characters += text.length
    note({ done: entries, of: Math.max(entries, Math.min(pagination.total, maxEntries)) })
    after = Option.getOrUndefined(decodeCursor(pagination.next_cursor))
    const isWhole = after === undefined
    if (isWhole || entries >= maxEntries || characters >= maxCharacters) {
      return { parts: [...parts, end], entries, isWhole } satisfies Exported
    }
  }
})

interface ExportProps {
  readonly org: OrgName
  readonly typed: Typed
  /** How many entries fit the filters. */
  readonly total: number
}

const words: ReadonlyArray<Form> = ["CSV", "JSON"]

/** Saves the entries that fit the filters as a file. */
export const AuditExport = ({ org, total, typed }: ExportProps) => {
  const progress = useSignal<Progress | null>(null)
  const said = useSignal<string | null>(null)
  const failure = useSignal<Failure | null>(null)
  const stop = useRef<() => void>(() => {})
  const isSaving = progress.value !== null
  const end = () => {
    stop.current()
    progress.value = null
  }
  useEffect(
    () => () => {
      stop.current()
    },
    []
  )
  const save = (form: Form) => {
    progress.value = { done: 0, of: 1 }
    said.value = null
    failure.value = null
    stop.current = start(
      exported(org, typed, form, (next) => (progress.value = next)),
      (outcome) => {
        if (outcome === null) return
        progress.value = null
        if ("failure" in outcome) {
          failure.value = outcome.failure
          return
        }
        const { entries, isWhole, parts } = outcome.value
        const { ending, type } = forms[form]
        saveFile(`audit-${org}.${ending}`, type, parts)
        said.value = isWhole
          ? `${entries.toLocaleString("en")} ${entries === 1 ? "entry" : "entries"} saved.`
          : `The newest ${entries.toLocaleString("en")} entries are saved, as many as a file may hold. Set Until to save earlier ones.`
      }
    )
  }
  return (
    <div class="audit-export">
      <span role="status">{said.value}</span>
      {isSaving ? (
        <>
          <progress aria-label="Entries that are read" value={progress.value?.done} max={progress.value?.of} />
          <button type="button" onClick={end}>
            Cancel
          </button>
        </>
      ) : (
        words.map((form) => (
          <button
            key={form}
            type="button"
            onClick={() => {
              save(form)
            }}
          >
            Save as {form}
            <span class="quiet">
              <span class="hidden">: </span>
              {Math.min(total, maxEntries).toLocaleString("en")}
            </span>
          </button>
        ))
      )}
      <Problem failure={failure.value} />
    </div>
  )
}
