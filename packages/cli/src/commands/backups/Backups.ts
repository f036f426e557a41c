import { momentCell, momentText } from "../../base/Moments.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { idOf } from "../../grammar/IdKinds.js"
import type { Backup, BackupCounts, BackupList } from "@coffer/domain/server/Backup"
import { BackupId } from "@coffer/domain/base/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import { atServer, group, wide, yes } from "../../grammar/Command.js"
import { option, optionalArgument } from "../../grammar/Fields.js"
import { past, pastForms, pastMoment } from "../../grammar/Times.js"
import { plural } from "../../terminal/Plural.js"
import { note, printJson, printLine } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { ageOf, chooseBackup } from "./BackupChoice.js"

const ageAt = (now: number, { created_at }: Backup) => ageOf((now - Date.parse(created_at)) / 1000)

const columnsFor = ({ server }: BackupList, now: number) => ({
  id: (backup: Backup) => backup.id,
  created: (backup: Backup) => momentCell(backup.created_at),
  bytes: (backup: Backup) => backup.size_bytes,
  trigger: (backup: Backup) => backup.trigger,
  "master key": (backup: Backup) => backup.key_fingerprint,
  instance: (backup: Backup) => backup.instance,
  server: (backup: Backup) => (backup.instance === server.instance ? "this" : "another"),
  age: (backup: Backup) => ageAt(now, backup)
})

const list = atServer("list", {
  description: "List the backups, the newest first",
  examples: ["coffer backup list", "coffer backup list --json"],
  options: { wide },
  run: ({ call }) =>
    Effect.gen(function* () {
      const backups = yield* call("backups", (api) => api.list({}))
      const columns = columnsFor(backups, yield* Clock.currentTimeMillis)
      return listView(
        backups,
        columns,
        "there are no backups; make one with: coffer backup create",
        ["id", "age", "server", "bytes"],
        "restore one with: coffer backup restore ID"
      )
    })
})

const create = atServer("create", {
  description: "Back the database up now",
  examples: ["coffer backup create"],
  options: {},
  run: ({ call }) =>
    Effect.map(
      call("backups", (api) => api.create({})),
      (backup) => doneView(`backup ${backup.id} created, ${backup.size_bytes} bytes`, backup)
    )
})

const id = completedBy(
  "backup",
  optionalArgument("ID", idOf(BackupId), "The backup's id, as coffer backup list shows it")
)

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
    yield* note(`  made ${momentText(backup.created_at)}, ${ageAt(now, backup)} ago`)
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

const steps = (path: string) => [
  "the live database is as it was; what is left to do, where the server runs:",
  "1. stop the server",
  `2. run, as the server's user and with its settings: coffer-server restore --apply ${path}`,
  "3. start the server; the command of step 2 says how to take it back"
]

const restore = atServer("restore", {
  description: "Decrypt a backup into a file beside the database, and say what is left to do",
  examples: ["coffer backup restore --latest", "coffer backup restore --before 2026-01-31T12:00:00Z"],
  options: {
    latest: flag("latest", "The newest backup of this server; where it is empty, of the one other server in the store"),
    before: option("before", past, `The newest backup that was made at this moment or earlier: ${pastForms}`),
    instance: option("instance", Schema.String, "Of this instance, with --latest and --before"),
    yes,
    id
  },
  run: ({ call, options }) =>
    Effect.gen(function* () {
      const backups = yield* call("backups", (api) => api.list({}))
      const backup = yield* chooseBackup(backups, {
        id: Option.fromNullable(options.id),
        latest: options.latest,
        before: Option.map(Option.fromNullable(yield* pastMoment(options.before)), Date.parse),
        instance: Option.fromNullable(options.instance)
      })
      yield* describe(backups, backup, yield* Clock.currentTimeMillis)
      yield* confirm("Decrypt it into a file beside the database?", options.yes)
      const restored = yield* call("backups", (api) => api.restore({ path: { backup_id: backup.id } }))
      const { json, text } = doneView(`backup ${restored.id} is decrypted on the server, in ${restored.path}`, restored)
      const notes = [`it holds ${holds(restored.counts)}`, ...steps(restored.path)]
      return { json, text: Effect.zipRight(text, Effect.forEach(notes, note, { discard: true })) }
    })
})

const drill = atServer("drill", {
  description:
    "Fetch a backup, the newest unless ID says otherwise, open it in a scratch file on the server and check every value and audit log. Fails when it is damaged, for cron",
  examples: ["coffer backup drill", "coffer backup drill --json"],
  options: { id },
  run: ({ call, json, options }) =>
    Effect.gen(function* () {
      const payload = defined({ backup_id: options.id })
      const result = yield* call("backups", (api) => api.drill({ payload }))
      const { backup, counts, problems, seconds, valid } = result
      if (json) yield* printJson(result)
      if (!valid) {
        return yield* new CannotDo({
          message: [`backup ${backup.id}, made ${momentText(backup.created_at)}, is damaged:`, ...problems].join("\n  ")
        })
      }
      if (json || counts === null) return
      const age = ageOf(result.age_seconds)
      yield* printLine(`backup ${backup.id} is good: ${age} old, checked in ${seconds} s; it holds ${holds(counts)}`)
    })
})

export const backupCommand = group("backup", "Backups of the whole server, for its superadmins", [
  list,
  create,
  restore,
  drill
])
