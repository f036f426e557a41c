import { auditActions, type AuditEntry } from "@coffer/domain/audit/AuditEntry"
import { LogCursor } from "@coffer/domain/audit/AuditCursor"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { useEffect } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { usePoll } from "../../kit/Poll.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { query, setQueries, setQuery } from "../../routing/Router.js"
import type { PageProps } from "../PageProps.js"
import { Activity } from "./Activity.js"
import { Entries } from "./Entries.js"
import { PageHead } from "../../kit/ListPage.js"
import { AuditExport } from "./AuditExport.js"
import { badOf, filtersOf, names, nameOf, noFilters, readPage, type Typed } from "./Filters.js"
import { Verify } from "./Verify.js"
import "./Page.css"

const decodeCursor = Schema.decodeUnknownOption(LogCursor)

/** How often a followed log is read. */
const followMillis = 3_000

const suggested = ["actor", "project", "env", "key"] as const
type Suggested = (typeof suggested)[number]
const isSuggested = (name: keyof Typed): name is Suggested => suggested.some((one) => one === name)

const textOf = (entry: AuditEntry, name: Suggested): unknown =>
  name === "actor" ? entry.actor_name : entry.metadata[name]

/** The words that the fields suggest: those of the entries that are shown. */
const Known = ({ entries }: { readonly entries: ReadonlyArray<AuditEntry> }) => (
  <>
    {suggested.map((name) => (
      <datalist key={name} id={`audit-known-${name}`}>
        {[...new Set(entries.map((entry) => textOf(entry, name)))].map(
          (text) => typeof text === "string" && <option key={text} value={text} />
        )}
      </datalist>
    ))}
  </>
)

interface LogProps {
  readonly org: OrgName
  readonly typed: Typed
}

/** The entries that fit the filters: newest first, followed while the box is ticked. */
const Log = ({ org, typed }: LogProps) => {
  const name = nameOf(org, typed)
  const first = useLoad(name, () => readPage(org, typed))
  const older = useSignal<ReadonlyArray<AuditEntry>>([])
  const cursor = useSignal<string | null | undefined>(undefined)
  const isFollowed = useSignal(false)
  const act = useAct()
  useEffect(() => {
    older.value = []
    cursor.value = undefined
  }, [name])
  usePoll(first, isFollowed.value ? followMillis : null, name)
  return (
    <Reading of={first}>
      {({ data, pagination }) => {
        const seen = new Set(data.map(({ seq }) => seq))
        const entries = [...data, ...older.value.filter(({ seq }) => !seen.has(seq))]
        const next = Option.getOrNull(decodeCursor(cursor.value === undefined ? pagination.next_cursor : cursor.value))
        return (
          <>
            <div class="audit-count">
              <span role="status">
                {pagination.total}
                {pagination.at_least === true ? " or more" : ""} {pagination.total === 1 ? "entry" : "entries"}
              </span>
              <Check isChecked={isFollowed.value} choose={(isChecked) => (isFollowed.value = isChecked)}>
                Follow
              </Check>
              <AuditExport key={name} org={org} typed={typed} total={pagination.total} />
            </div>
            <Known entries={entries} />
            <Entries entries={entries} />
            {next !== null && (
              <button
                type="button"
                disabled={act.isBusy.value}
                onClick={() => {
                  act.run(readPage(org, typed, next), (page) => {
                    older.value = [...older.value, ...page.data]
                    cursor.value = page.pagination.next_cursor
                  })
                }}
              >
                Older entries
              </button>
            )}
            <Problem failure={act.failure.value} />
          </>
        )
      }}
    </Reading>
  )
}

const labels = {
  actor: "Actor",
  project: "Project",
  env: "Environment",
  key: "Key",
  since: "Since (UTC)",
  until: "Until (UTC)"
} as const

const any = "any"
const actions: ReadonlyArray<string> = [any, ...auditActions]

/** The audit log of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  // The address has them: it can be sent to somebody, and Back from an entry's page comes back to them.
  const typed = filtersOf(query.value)
  const bad = badOf(typed)
  const set = (name: keyof Typed, text: string) => {
    setQuery(name, text.trim())
  }
  const isFiltered = Object.values(typed).some((text) => text !== "")
  return (
    <section class="wide-page">
      <PageHead
        title="Audit log"
        about="Everything that happened in the organization: reads, changes, refusals. No entry can be changed; old ones leave only into archives that were verified."
        create={<Verify org={org} />}
      />
      <form
        class="fields"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
        }}
      >
        <Choose
          label="Action"
          value={typed.action === "" ? any : typed.action}
          words={actions}
          choose={(word) => {
            set("action", word === any ? "" : word)
          }}
        />
        {names.map((name) => (
          <div key={name} class="field audit-filter">
            <label for={`audit-${name}`}>{labels[name]}</label>
            <input
              id={`audit-${name}`}
              placeholder={name === "since" || name === "until" ? "2026-01-31" : undefined}
              list={isSuggested(name) ? `audit-known-${name}` : undefined}
              value={typed[name]}
              autocomplete="off"
              spellcheck={false}
              aria-invalid={bad.includes(name)}
              aria-describedby={bad.includes(name) ? "audit-bad" : undefined}
              onChange={({ currentTarget }) => {
                set(name, currentTarget.value)
              }}
            />
          </div>
        ))}
        {isFiltered && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              setQueries({ ...noFilters })
            }}
          >
            Clear
          </button>
        )}
      </form>
      {bad.length > 0 && (
        <p id="audit-bad" class="hint bad" role="status">
          {bad.map((name) => labels[name]).join(", ")}: ignored, because it is not valid. The list and the files have
          entries with any. A time is a date, or a date and time such as 2026-01-31T08:00Z.
        </p>
      )}
      <Activity key={org} org={org} typed={typed} choose={(filters) => setQueries({ ...filters })} />
      <Log org={org} typed={typed} />
    </section>
  )
}
