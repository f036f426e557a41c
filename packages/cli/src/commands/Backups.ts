import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { Backup, BackupCounts, BackupList } from "@coffer/domain/Backup"
import { BackupId } from "@coffer/domain/Ids"
import { withMessage } from "@coffer/domain/Message"
import { Clock, Effect, Option, Schema } from "effect"
import { CannotDo } from "../Failures.js"
import { note, printDone, printJson, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { ageOf, chooseBackup } from "./BackupChoice.js"
import { checked } from "./Checked.js"
import { argument, atServer, connect, settingsOf, yes } from "./Shared.js"

const ageAt = (now: number, { created_at }: Backup) => ageOf((now - Date.parse(created_at)) / 1000)

const columnsFor = ({ server }: BackupList, now: number) => ({
  id: (backup: Backup) => backup.id,
  created: (backup: Backup) => backup.created_at,
  bytes: (backup: Backup) => backup.size_bytes,
  trigger: (backup: Backup) => backup.trigger,
  "master key": (backup: Backup) => backup.key_fingerprint,
  instance: (backup: Backup) => backup.instance,
  server: (backup: Backup) => (backup.instance === server.instance ? "this" : "another"),
  age: (backup: Backup) => ageAt(now, backup)
})

const list = Command.make("list", atServer, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const backups = yield* client.call("backups", (api) => api.list({}))
    const columns = columnsFor(backups, yield* Clock.currentTimeMillis)
    yield* printList(backups, options.json, columns, "there are no backups; make one with: coffer backup create")
  })
).pipe(Command.withDescription("List the backups, the newest first. Example: coffer backup list --json"))

const create = Command.make("create", atServer, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const backup = yield* client.call("backups", (api) => api.create({}))
    if (options.json) return yield* printRecord(backup, true)
    yield* printDone(`backup ${backup.id} created, ${backup.size_bytes} bytes`, false)
  })
).pipe(Command.withDescription("Back the database up now. Example: coffer backup create"))

const id = argument("ID", BackupId, "The backup's id, as coffer backup list shows it").pipe(Args.optional)

const moment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

const Moment = Schema.String.pipe(
  Schema.filter(
    (text) => moment.test(text) && !Number.isNaN(Date.parse(text)),
    withMessage("must be a moment such as 2026-01-31T12:00:00Z, or a day such as 2026-01-31 (its first moment, in UTC)")
  )
)

const latest = Options.boolean("latest").pipe(
  Options.withDescription("The newest backup of this server; where it is empty, of the one other server in the store")
)
const before = checked("before", Moment).pipe(
  Options.withDescription(
    "The newest backup that was made at this moment or earlier (TIME, such as 2026-01-31T12:00:00Z)"
  ),
  Options.optional
)
const instance = Options.text("instance").pipe(
  Options.withDescription("Of this instance, with --latest and --before"),
  Options.optional
)

const plural = (number: number, noun: string, many = `${noun}s`) => `${number} ${number === 1 ? noun : many}`

const holds = (counts: BackupCounts) =>
  [
    plural(counts.organizations, "organization"),
    plural(counts.projects, "project"),
    plural(counts.environments, "environment"),
    plural(counts.secrets, "secret"),
    plural(counts.versions, "version"),
    plural(counts.entries, "audit entry", "audit entries")
  ].join(", ")

/** Says what a restore would bring back, and warns of what may be a mistake. */
const describe = ({ data, server }: BackupList, backup: Backup, now: number) =>
  Effect.gen(function* () {
    const isOwn = backup.instance === server.instance
    yield* note(`backup ${backup.id} (${backup.trigger}, ${backup.size_bytes} bytes)`)
    yield* note(`  made ${backup.created_at}, ${ageAt(now, backup)} ago`)
    yield* note(isOwn ? "  by this server" : `  by another server, instance ${backup.instance}`)
    const newer = data.filter(
      ({ created_at, instance }) => instance === backup.instance && created_at > backup.created_at
    )
    if (newer.length > 0)
      yield* note(`  ${plural(newer.length, "backup")} of that server ${newer.length === 1 ? "is" : "are"} newer`)
    const has = plural(server.organizations, "organization")
    if (!isOwn && server.organizations > 0) {
      yield* note(`warning: this server has ${has}, and none of them is in a backup of another server`)
    }
    if (isOwn && server.organizations === 0) {
      yield* note("warning: this server is empty, and so may be its own backup: coffer backup list shows all of them")
    }
  })

const restore = Command.make("restore", { ...atServer, latest, before, instance, yes, id }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const backups = yield* client.call("backups", (api) => api.list({}))
    const backup = yield* chooseBackup(backups, { ...options, before: Option.map(options.before, Date.parse) })
    yield* describe(backups, backup, yield* Clock.currentTimeMillis)
    yield* confirm("Decrypt it into a file beside the database?", options.yes)
    const restored = yield* client.call("backups", (api) => api.restore({ path: { backup_id: backup.id } }))
    if (options.json) return yield* printJson(restored)
    yield* printDone(`backup ${restored.id} is decrypted on the server, in ${restored.path}`, false)
    yield* note(`it holds ${holds(restored.counts)}`)
    yield* note("the live database is as it was; what is left to do, where the server runs:")
    yield* note("1. stop the server")
    yield* note(`2. run, as the server's user and with its settings: coffer-server restore --apply ${restored.path}`)
    yield* note("3. start the server; the command of step 2 says how to take it back")
  })
).pipe(
  Command.withDescription(
    "Decrypt a backup into a file beside the database, and say what is left to do. Example: coffer backup restore --before 2026-01-31T12:00:00Z"
  )
)

const drill = Command.make("drill", { ...atServer, id }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const backup_id = Option.getOrUndefined(options.id)
    const result = yield* client.call("backups", (api) =>
      api.drill({ payload: backup_id === undefined ? {} : { backup_id } })
    )
    const { backup, counts, problems, seconds, valid } = result
    if (options.json) yield* printJson(result)
    if (!valid) {
      return yield* new CannotDo({
        message: [`backup ${backup.id}, made ${backup.created_at}, is damaged:`, ...problems].join("\n  ")
      })
    }
    if (options.json || counts === null) return
    const age = ageOf(result.age_seconds)
    yield* printDone(
      `backup ${backup.id} is good: ${age} old, checked in ${seconds} s; it holds ${holds(counts)}`,
      false
    )
  })
).pipe(
  Command.withDescription(
    "Fetch a backup, the newest unless ID says otherwise, open it in a scratch file on the server and check every value and audit log. Fails when it is damaged, for cron. Example: coffer backup drill"
  )
)

export const backupCommand = Command.make("backup").pipe(
  Command.withDescription("Backups of the whole server, for its superadmins"),
  Command.withSubcommands([list, create, restore, drill])
)
