import * as Command from "@effect/cli/Command"
import type { Backup } from "@coffer/domain/Backup"
import { BackupId } from "@coffer/domain/Names"
import { Effect } from "effect"
import { note, printDone, printList, printRecord } from "../Output.js"
import { argument, atServer, connect, settingsOf } from "./Shared.js"

const columns = {
  id: (backup: Backup) => backup.id,
  created: (backup: Backup) => backup.created_at,
  bytes: (backup: Backup) => backup.size_bytes,
  trigger: (backup: Backup) => backup.trigger,
  "master key": (backup: Backup) => backup.key_fingerprint,
  instance: (backup: Backup) => backup.instance
}

const list = Command.make("list", atServer, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const backups = yield* client.call((api) => api.backups.list({}))
    yield* printList(backups, options.json, columns, "there are no backups; make one with: coffer backup create")
  })
).pipe(Command.withDescription("List the backups. Example: coffer backup list --json"))

const create = Command.make("create", atServer, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const backup = yield* client.call((api) => api.backups.create({}))
    if (options.json) return yield* printRecord(backup, true)
    yield* printDone(`backup ${backup.id} created, ${backup.size_bytes} bytes`, false)
  })
).pipe(Command.withDescription("Back the database up now. Example: coffer backup create"))

const id = argument("ID", BackupId, "The backup's id, as coffer backup list shows it")

const restore = Command.make("restore", { ...atServer, id }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const restored = yield* client.call((api) => api.backups.restore({ path: { backup_id: options.id } }))
    if (options.json) return yield* printRecord(restored, true)
    yield* printDone(`backup ${restored.id} is decrypted on the server, in ${restored.path}`, false)
    yield* note("the live database is as it was; what is left to do, where the server runs:")
    yield* note("1. stop the server")
    yield* note(`2. run: coffer-server restore --apply ${restored.path}`)
    yield* note("3. start the server")
  })
).pipe(
  Command.withDescription(
    "Decrypt a backup into a file beside the database, and say what is left to do. Example: coffer backup restore 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
  )
)

export const backupCommand = Command.make("backup").pipe(
  Command.withDescription("Backups of the whole server, for its superadmins"),
  Command.withSubcommands([list, create, restore])
)
