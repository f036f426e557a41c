import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { AuditActor, AuditMoment, AuditWord, ChainLink, SeqParameter } from "@coffer/domain/AuditFilters"
import { AuditCursor, LogCursor } from "@coffer/domain/AuditCursor"
import type { AuditEntry, AuditPage } from "@coffer/domain/AuditEntry"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/Names"
import { LimitParameter } from "@coffer/domain/Schemas"
import { Effect, Option, Schema } from "effect"
import { CannotDo, WrongUsage } from "../Failures.js"
import { note, printJson, printLine, renderTable, toJson, toTerminal, write } from "../Output.js"
import { checked, wholeNumber } from "./Checked.js"
import { follow } from "./Follow.js"
import { atOrg, connect, settingsOf } from "./Shared.js"

/** The subject of an entry: its resource type and metadata. */
const about = ({ metadata, resource_type }: AuditEntry) => {
  const facts = Object.entries(metadata).flatMap(([name, fact]) =>
    typeof fact === "string" || typeof fact === "number" || typeof fact === "boolean" ? [`${name}=${fact}`] : []
  )
  return [resource_type, ...facts].join(" ")
}

const titles = ["time", "actor", "action", "about", "address"]
const row = (entry: AuditEntry) => [entry.created_at, entry.actor_name, entry.action, about(entry), entry.ip_address]

const text = <A>(name: string, schema: Schema.Schema<A, string>, description: string) =>
  checked(name, schema).pipe(Options.withDescription(description), Options.optional)

const aMoment = "a date, or a time in UTC such as 2026-01-31T08:00:00Z"

const server = Options.boolean("server").pipe(
  Options.withDescription(
    "The log of the whole server, for superadmins: logins, lockouts, and every organization's entries"
  )
)

const number = (name: string, schema: Schema.Schema<number, string>, description: string) =>
  wholeNumber(name, schema).pipe(Options.withDescription(description), Options.optional)

const filters = {
  action: text("action", AuditWord, "Only this action, such as secret.set"),
  actor: text("actor", AuditActor, "Only what this actor did: an e-mail address, a service account's name, or an id"),
  project: text(
    "project",
    ProjectName,
    "Only what happened in this project; service.yml and SERVICE_PROJECT do not count"
  ),
  env: text("env", EnvName, "Only what happened in this environment; service.yml and SERVICE_ENV do not count"),
  key: text("key", SecretKey, "Only what happened to this key, also where a whole environment was read"),
  since: text("since", AuditMoment, `Only from this moment on: ${aMoment}`),
  until: text("until", AuditMoment, "Only before this moment"),
  resourceType: text("resource-type", AuditWord, "Only what is about this kind of thing, such as secret"),
  after: text("after", AuditCursor, "Go on behind an earlier page: its next_cursor"),
  limit: number("limit", LimitParameter, "How many entries; 20 when left out, 100 at most"),
  all: Options.boolean("all").pipe(Options.withDescription("Every entry, page after page")),
  follow: Options.boolean("follow").pipe(
    Options.withDescription("The newest entries, oldest first, and then each new one as it comes, until ctrl-C")
  )
}

const given = <Name extends string, A>(name: Name, option: Option.Option<A>) =>
  Option.match(option, { onNone: () => ({}), onSome: (value) => ({ [name]: value }) })

const printPage = (page: AuditPage, titled: boolean) => {
  const text = renderTable(titles, page.data.map(row), toTerminal())
  return write(titled || !toTerminal() ? text : text.slice(text.indexOf("\n") + 1))
}

/** Whether the log of the whole server is wanted. It belongs to no organization: `--org` must be absent. */
const isOfServer = (options: { readonly server: boolean; readonly org: Option.Option<string> }) =>
  options.server && Option.isSome(options.org)
    ? new WrongUsage({ message: "--server is the log of every organization: leave --org out" })
    : Effect.succeed(options.server)

const list = Command.make("list", { ...atOrg, server, ...filters }, (options) =>
  Effect.gen(function* () {
    if (options.all && Option.isSome(options.limit)) {
      return yield* new WrongUsage({ message: "--all lists every entry: leave --limit out" })
    }
    if (options.follow && (options.all || Option.isSome(options.after))) {
      return yield* new WrongUsage({ message: "--follow goes on from the newest entries: leave --all and --after out" })
    }
    const ofServer = yield* isOfServer(options)
    if (Option.exists(options.after, (cursor) => Schema.is(LogCursor)(cursor) === ofServer)) {
      return yield* new WrongUsage({
        message:
          "--after must be the next_cursor of an earlier page of the same list: with --server or without, as before"
      })
    }
    // Only options filter the list: a project in service.yml must not hide the entries of other projects.
    const settings = yield* settingsOf({ serverUrl: options.serverUrl, org: options.org })
    const path = ofServer ? null : yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const read = (limit: Option.Option<number>, after: Option.Option<string>) => {
      const urlParams = {
        ...given("action", options.action),
        ...given("actor", options.actor),
        ...given("resource_type", options.resourceType),
        ...given("project", options.project),
        ...given("env", options.env),
        ...given("key", options.key),
        ...given("since", options.since),
        ...given("until", options.until),
        ...given("limit", limit),
        ...given("after", after)
      }
      return client.call("audit", (api) => (path === null ? api.listAll({ urlParams }) : api.list({ path, urlParams })))
    }
    if (options.follow) {
      const print = (entries: ReadonlyArray<AuditEntry>) =>
        options.json
          ? write(entries.map((entry) => `${toJson(entry)}\n`).join(""))
          : write(renderTable(titles, entries.map(row), false))
      return yield* follow(read, options.limit, print)
    }
    if (!options.all) {
      const page = yield* read(options.limit, options.after)
      if (options.json) return yield* printJson(page)
      if (page.data.length === 0) return yield* note("there are no such entries")
      yield* printPage(page, true)
      const { at_least = false, next_cursor, total } = page.pagination
      if (next_cursor !== null) {
        yield* note(
          `these are ${page.data.length} of ${at_least ? "more than " : ""}${total}; go on with --after ${next_cursor}, or list all with --all`
        )
      }
      return
    }
    // A log can exceed the memory: write each page before requesting the next.
    let page = yield* read(Option.some(100), options.after)
    if (options.json) yield* write('{"data":[')
    else if (page.data.length === 0) yield* note("there are no such entries")
    for (let first = true; ; first = false) {
      if (options.json) {
        const entries = page.data.map((entry) => `\n${toJson(entry)}`).join(",")
        yield* write(first || entries === "" ? entries : `,${entries}`)
      } else yield* printPage(page, first)
      const { next_cursor } = page.pagination
      if (next_cursor === null) break
      page = yield* read(Option.some(100), Option.some(next_cursor))
    }
    if (options.json) yield* write("\n]}\n")
  })
).pipe(
  Command.withDescription(
    "Read the audit log, newest first. Example: coffer audit list --project webshop --env prod --key DATABASE_URL --since 2026-01-31"
  )
)

const head = {
  fromSeq: number("from-seq", SeqParameter, "Begin at this entry"),
  seq: number("seq", SeqParameter, "The number of a head that was kept elsewhere; goes with --chain"),
  chain: text("chain", ChainLink, "The link of a head that was kept elsewhere; goes with --seq")
}

const verify = Command.make("verify", { ...atOrg, server, ...head }, (options) =>
  Effect.gen(function* () {
    if (Option.isSome(options.seq) !== Option.isSome(options.chain)) {
      return yield* new WrongUsage({ message: "a head is a number and a link: give both --seq and --chain" })
    }
    const ofServer = yield* isOfServer(options)
    const settings = yield* settingsOf(options)
    const path = ofServer ? null : yield* settings.orgPath
    const log = path === null ? "the server itself" : path.org_name
    const client = yield* connect(yield* settings.server)
    const urlParams = {
      ...given("from_seq", options.fromSeq),
      ...given("seq", options.seq),
      ...given("chain", options.chain)
    }
    const { entries, first_invalid_seq, head, valid } = yield* client.call("audit", (api) =>
      path === null ? api.verifyAll({ urlParams }) : api.verify({ path, urlParams })
    )
    if (options.json) yield* printJson({ valid, entries, head, first_invalid_seq })
    if (!valid) {
      const where = first_invalid_seq === null ? "its head does not fit" : `entry ${first_invalid_seq} does not fit`
      return yield* new CannotDo({
        message: `the audit log of ${log} was changed: ${where}; keep the database file as it is, and tell whoever runs the server`
      })
    }
    if (options.json) return
    yield* printLine(`the audit log of ${log} is whole: ${entries} entries`)
    if (head !== null) yield* printLine(`head to keep elsewhere: --seq ${head.seq} --chain ${head.chain}`)
  })
).pipe(
  Command.withDescription(
    "Check that no entry was changed, removed or inserted; the exit code is 1 when one was. Example: coffer audit verify"
  )
)

export const auditCommand = Command.make("audit").pipe(
  Command.withDescription("What was done, by whom and when"),
  Command.withSubcommands([list, verify])
)
