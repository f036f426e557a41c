import { AuditCursor, LogCursor } from "@coffer/domain/audit/AuditCursor"
import { auditCsv, auditCsvHead } from "@coffer/domain/audit/AuditCsv"
import type { AuditEntry, AuditPage } from "@coffer/domain/audit/AuditEntry"
import { ChainLink, FromSeqParameter, SeqParameter } from "@coffer/domain/audit/AuditFilters"
import { auditDeed } from "@coffer/domain/audit/AuditSentence"
import { patiently } from "@coffer/client/internal/Exchange"
import type { Settings } from "@coffer/client/internal/Settings"
import { LimitParameter, maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell } from "../../base/Moments.js"
import { CannotDo, type Failure, WrongUsage } from "../../base/Failures.js"
import { atServer, group, org, wide } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { pastMoment } from "../../grammar/Times.js"
import { note, printJson, printLine, printList, printMore, toJson, write } from "../../terminal/Print.js"
import { noteUnmatched } from "../access/UnmatchedPatterns.js"
import { activity } from "./Activity.js"
import { follow } from "./Follow.js"
import { about, filters, type LogPlace, namesOf } from "./LogFilters.js"

const titles = ["time", "actor", "action", "what", "address"]
const row = (entry: AuditEntry) => [
  momentCell(entry.created_at),
  entry.actor_name,
  entry.action,
  auditDeed(entry),
  entry.ip_address
]

const server = flag(
  "server",
  "The log of the whole server, for superadmins: logins, lockouts, and every organization's entries"
)

const archive = option(
  "archive",
  Schema.NonEmptyString.annotations({
    description: "search this archive of a log instead, without a server",
    examples: ["audit_system_000000000001-000000020000.jsonl.gz"]
  })
)

const pages = {
  after: option("after", AuditCursor),
  limit: option("limit", LimitParameter),
  all: flag("all", "Every entry, page after page"),
  csv: flag("csv", "As comma-separated values, with all details; no cell is a formula"),
  follow: flag("follow", "The newest entries, oldest first, and then each new one as it comes, until ctrl-C")
}

interface LogOptions {
  readonly server: boolean
  readonly org: string | undefined
  readonly about?: LogPlace | undefined
}

/** The settings that the command line gives. */
const placeOf = ({ about, org }: LogOptions) => defined({ org: about?.org ?? org })

const logProblem = ({ org, server }: LogOptions) =>
  server && org !== undefined ? "--server is the log of every organization: leave --org out" : undefined

/** The organization whose log is wanted. The log of the whole server belongs to none. */
const logPath = (settings: Settings, { server }: LogOptions) => (server ? Effect.succeed(null) : settings.orgPath)

/** The columns that come first. The name of the action and the IP address follow. */
const first = ["time", "actor", "what"]

const printPage = (page: AuditPage, titled: boolean) =>
  (titled ? printList : printMore)(titles, page.data.map(row), first)

/** How entries are printed. */
type Form = "csv" | "json" | "table"

const formOf = (json: boolean, csv: boolean): Effect.Effect<Form, WrongUsage> =>
  json && csv
    ? new WrongUsage({ message: "give --json or --csv, not both" })
    : Effect.succeed(json ? "json" : csv ? "csv" : "table")

const printEntries = (form: Form) => (entries: ReadonlyArray<AuditEntry>) =>
  form === "json"
    ? write(entries.map((entry) => `${toJson(entry)}\n`).join(""))
    : form === "csv"
      ? write(auditCsv(entries))
      : printMore(titles, entries.map(row), first)

/** One page, and how to go on. */
const onePage = (page: AuditPage, csv: boolean) =>
  Effect.gen(function* () {
    if (csv) yield* write(auditCsvHead + auditCsv(page.data))
    else if (page.data.length === 0) return yield* note("there are no such entries")
    else yield* printPage(page, true)
    const { archived = 0, at_least = false, next_cursor, total } = page.pagination
    if (archived > 0) yield* note(`${archived} older entries left for archives, which the operator has`)
    if (next_cursor === null) return
    const sum = `these are ${page.data.length} of ${at_least ? "more than " : ""}${total}`
    yield* note(`${sum}; continue with --after ${next_cursor}, or list all with --all`)
  })

type Read = (limit: number | undefined, after: string | undefined) => Effect.Effect<AuditPage, Failure>

/** Every page. A log can exceed the memory: each page is written before the next is requested. */
const everyPage = Effect.fnUntraced(function* (read: Read, after: string | undefined, form: Form) {
  let page = yield* read(maxPageSize, after)
  if (form === "json") yield* write('{"data":[')
  else if (form === "csv") yield* write(auditCsvHead)
  else if (page.data.length === 0) yield* note("there are no such entries")
  for (let first = true; ; first = false) {
    if (form === "json") {
      const entries = page.data.map((entry) => `\n${toJson(entry)}`).join(",")
      yield* write(first || entries === "" ? entries : `,${entries}`)
    } else if (form === "csv") yield* write(auditCsv(page.data))
    else yield* printPage(page, first)
    const { next_cursor } = page.pagination
    if (next_cursor === null) break
    page = yield* read(maxPageSize, next_cursor)
  }
  if (form === "json") yield* write("\n]}\n")
})

/** Longer than a server waits for the outcome of a commit. */
const latenessOfLogs = "20 seconds"

const list = atServer("list", {
  description: "Read the audit log, newest first",
  examples: [
    "coffer audit list webshop/prod --key DATABASE_URL --since yesterday",
    "coffer audit list --actor grace@example.com --limit 50",
    "coffer audit list --all --json",
    "coffer audit list --all --csv --since 2026-01-01 --until 2026-02-01 > january.csv"
  ],
  options: { about, org, server, archive, ...filters, ...pages, wide },
  place: placeOf,
  check: ({ about, after, all, archive, follow, limit, org, server }) => {
    if (archive !== undefined && about !== undefined && about.project === undefined) {
      return "an archive is searched without settings: name the project too, as in webshop/prod"
    }
    if (archive !== undefined && (follow || server || org !== undefined)) {
      return "--archive is one log, and without a server: leave --follow, --server and --org out"
    }
    if (all && limit !== undefined) return "--all lists every entry: leave --limit out"
    if (follow && (all || after !== undefined)) {
      return "--follow starts at the newest entries: leave --all and --after out"
    }
    return (
      logProblem({ org, server }) ??
      (after !== undefined && Schema.is(LogCursor)(after) === server
        ? "--after must be the next_cursor of an earlier page of the same list: with --server or without, as before"
        : undefined)
    )
  },
  offline: ({ after, archive, limit, ...options }, json) =>
    archive === undefined
      ? undefined
      : Effect.gen(function* () {
          const form = yield* formOf(json, options.csv)
          const { archivePages } = yield* Effect.promise(() => import("./ArchivePages.js"))
          const [since, until] = yield* Effect.all([pastMoment(options.since), pastMoment(options.until)])
          const read = yield* archivePages(archive, {
            ...options,
            ...(yield* namesOf(undefined, options.about)),
            since,
            until
          })
          if (options.all) return yield* everyPage(read, after, form)
          const page = yield* read(limit, after)
          return { json: page, text: onePage(page, options.csv) }
        }),
  run: ({ call, exchange, json, options, settings }) =>
    Effect.gen(function* () {
      const form = yield* formOf(json, options.csv)
      const path = yield* logPath(settings, options)
      const { action, actor, key, resourceType } = options
      const { env, project } = yield* namesOf(settings, options.about)
      const [since, until] = yield* Effect.all([pastMoment(options.since), pastMoment(options.until)])
      const wanted = { action, actor, env, key, project, resource_type: resourceType, since, until }
      const read = (limit: number | undefined, after: string | undefined) => {
        const urlParams = defined({ ...wanted, limit, after })
        return call("audit", (api) => (path === null ? api.listAll({ urlParams }) : api.list({ path, urlParams })))
      }
      if (options.follow) {
        const lateness = path === null ? latenessOfLogs : 0
        if (form === "csv") yield* write(auditCsvHead)
        return yield* follow({ read, limit: options.limit, lateness, print: printEntries(form) })
      }
      if (options.all) return yield* everyPage(read, options.after, form)
      const page = yield* read(options.limit, options.after)
      if (page.data.length === 0 && path !== null && (project ?? env) !== undefined) {
        yield* noteUnmatched(exchange, path.org_name, [{ project, env: env ?? "*" }])
      }
      return { json: page, text: onePage(page, options.csv) }
    })
})

const verify = atServer("verify", {
  description: "Check that no entry was changed, removed or inserted; the exit code is 1 when one was",
  examples: ["coffer audit verify", "coffer audit verify --from-seq 2"],
  options: {
    org,
    server,
    fromSeq: option("from-seq", FromSeqParameter),
    seq: option("seq", SeqParameter),
    chain: option("chain", ChainLink)
  },
  place: placeOf,
  check: (options) =>
    (options.seq === undefined) === (options.chain === undefined)
      ? logProblem(options)
      : "a head is a number and a link: give both --seq and --chain",
  run: ({ call, json, options, settings }) =>
    Effect.gen(function* () {
      const path = yield* logPath(settings, options)
      const log = path === null ? "the server itself" : path.org_name
      const urlParams = defined({ from_seq: options.fromSeq, seq: options.seq, chain: options.chain })
      const {
        archived,
        entries,
        first_invalid_log,
        first_invalid_seq,
        head,
        missing = [],
        valid
      } = yield* patiently(
        call("audit", (api) => (path === null ? api.verifyAll({ urlParams }) : api.verify({ path, urlParams })))
      )
      if (json) {
        const ofList = defined({ missing: missing.length > 0 ? missing : undefined, first_invalid_log, archived })
        yield* printJson({ valid, entries, head, first_invalid_seq, ...ofList })
      }
      if (!valid) {
        const where =
          missing.length > 0
            ? `the whole log is missing of the organizations ${missing.join(", ")}`
            : first_invalid_seq !== null
              ? `entry ${first_invalid_seq} does not fit`
              : first_invalid_log !== undefined
                ? `number ${first_invalid_log} in the list of all logs does not fit`
                : "its head does not fit"
        return yield* new CannotDo({
          message: `the audit log of ${log} was changed: ${where}; keep the database file as it is, and contact the operator of the server`
        })
      }
      if (json) return
      const left = archived === undefined ? "" : `, behind entry ${archived}, the last one in an archive`
      yield* printLine(`the audit log of ${log} is whole: ${entries} entries${left}`)
      if (head !== null) yield* printLine(`head to keep elsewhere: --seq ${head.seq} --chain ${head.chain}`)
    })
})

export const auditCommand = group("audit", "What was done, by whom and when", [list, activity, verify])
