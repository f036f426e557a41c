import { randomBytes } from "node:crypto"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { Backup, Restore } from "@coffer/domain/Backup"
import { BackupFailed, BackupsDisabled, Conflict, NotFound } from "@coffer/domain/Errors"
import { BackupId } from "@coffer/domain/Names"
import { Clock, Effect, Exit, Fiber, Option, Order, Array } from "effect"
import type { Everywhere } from "../access/Access.js"
import { AuditLog, type AuditSource } from "../audit/AuditLog.js"
import { sourceOfActor } from "../auth/Sessions.js"
import { ServerConfig } from "../Config.js"
import { now } from "../database/Time.js"
import { uuidV7 } from "../database/Uuid.js"
import { Instance } from "../keys/Instance.js"
import { Keyring, nonceBytes } from "../keys/Keyring.js"
import { overheadBytes, sealBackup } from "./BackupFile.js"
import { noteNewest, noteOutcome } from "./BackupMetrics.js"
import { type LocalFailure, localFailure } from "./LocalFailure.js"
import { backupOf, objectName } from "./ObjectName.js"
import { makeObjectStore, type StoreFailure } from "./ObjectStore.js"
import { restoreBeside } from "./Restore.js"
import { expired } from "./Retention.js"
import { takeSnapshot } from "./Snapshot.js"
import { removeLeftovers, temporaryFile } from "./TemporaryFiles.js"

const pieceBytes = 256 * 1024

const disabled = new BackupsDisabled({
  message: "backups are off: neither of the server's settings BACKUP_S3_ENDPOINT and BACKUP_DIR names a store"
})

/** The store's own code helps whoever set it up; what went wrong on this machine is for the log alone. */
const storeFailed = (what: string) => (failure: StoreFailure) =>
  Effect.zipRight(
    Effect.logError(`${what} failed: ${failure.message}`),
    new BackupFailed({ message: `${what} failed: ${failure.message}` })
  )

const locallyFailed =
  (what: string) =>
  ({ full, reason }: LocalFailure) =>
    Effect.zipRight(
      Effect.logError(`${what} failed: ${reason}`),
      new BackupFailed({
        message: full
          ? `${what} failed: the disk with the server's database is full`
          : `${what} failed on the server's side: its log says why`
      })
    )

const failed = (what: string) => ({ StoreFailure: storeFailed(what), LocalFailure: locallyFailed(what) })

const newestFirst = Order.reverse(Order.mapInput(Order.string, ({ created_at, id }: Backup) => `${created_at} ${id}`))

const sourceOf = ({ actor }: Everywhere): AuditSource => ({ ...sourceOfActor(actor), via: "superadmin" })

const schedule: AuditSource = { actor: { type: "system", id: null, name: "backup schedule" }, orgId: null }

const event = (action: "backup.create" | "backup.restore", { id, size_bytes, trigger }: Backup) =>
  ({ action, resource_type: "backup", resource_id: id, metadata: { id, size_bytes, trigger } }) as const

/**
 * Backups of the whole database in an object store, each encrypted under the backup key. The store is the only record of
 * them, so that a fresh machine with the same master key finds and restores them.
 */
export class Backups extends Effect.Service<Backups>()("@coffer/server/Backups", {
  scoped: Effect.gen(function* () {
    const { backups: settings, dbPath } = yield* ServerConfig
    const keyring = yield* Keyring
    const instance = yield* Instance
    const audit = yield* AuditLog
    const scope = yield* Effect.scope
    const oneBackup = yield* Effect.makeSemaphore(1)
    const oneRestore = yield* Effect.makeSemaphore(1)
    yield* removeLeftovers(dbPath)
    const made = settings === null ? null : yield* makeObjectStore(settings)
    const configured = made === null ? disabled : Effect.succeed(made)

    /** Goes on when the caller hangs up, as a proxy does after a minute, and ends with the server. */
    const detached = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.flatMap(Effect.forkIn(work, scope), Fiber.join)

    const make = (source: AuditSource, trigger: "manual" | "scheduled") =>
      Effect.gen(function* () {
        const store = yield* configured
        const draft = {
          id: BackupId.make(yield* uuidV7),
          created_at: yield* now,
          trigger,
          key_fingerprint: keyring.fingerprint,
          instance: instance.id
        }
        const name = objectName(draft)
        const path = yield* temporaryFile(dbPath, "backup")
        yield* takeSnapshot(dbPath, path, { id: draft.id, name })
        const { size } = yield* Effect.tryPromise({ try: () => stat(path), catch: localFailure })
        const backup: Backup = { ...draft, size_bytes: size + overheadBytes }
        yield* store.put(name, backup.size_bytes, () =>
          sealBackup(keyring.backupKey, randomBytes(nonceBytes), createReadStream(path, { highWaterMark: pieceBytes }))
        )
        yield* audit.write(source, event("backup.create", backup))
        yield* store
          .abandonUploads(`${instance.id}/`)
          .pipe(Effect.catchAll(({ message }) => Effect.logDebug(`unfinished uploads were not looked for: ${message}`)))
        return backup
      }).pipe(
        Effect.scoped,
        oneBackup.withPermits(1),
        Effect.catchTags(failed("the backup")),
        Effect.onExit((exit) => noteOutcome(exit))
      )

    const all = Effect.gen(function* () {
      const objects = yield* (yield* configured).list
      return Array.sort(Array.getSomes(objects.map(({ name, size }) => backupOf(name, size))), newestFirst)
    }).pipe(Effect.catchTag("StoreFailure", storeFailed("the list of backups")))

    const own = Effect.map(all, (backups) => backups.filter((backup) => backup.instance === instance.id)).pipe(
      Effect.tap(([newest]) => noteNewest(newest))
    )

    /** Backs the database up now. A second call waits for the first. */
    const create = Effect.fn("Backups.create")((everywhere: Everywhere) =>
      detached(make(sourceOf(everywhere), "manual"))
    )

    /** Every backup in the store, of other instances too, newest first. */
    const list = Effect.fn("Backups.list")((_everywhere: Everywhere) => all)

    /**
     * Decrypts a backup into a file beside the database; the live database is untouched. Fails with NotFound, with Conflict
     * when the backup is under another master key (before anything is downloaded), and with DecryptionFailed.
     */
    const restore = Effect.fn("Backups.restore")(function* (everywhere: Everywhere, id: BackupId) {
      const store = yield* configured
      const backup = (yield* all).find((candidate) => candidate.id === id)
      if (backup === undefined) return yield* new NotFound({ message: `backup ${id} is not in the object store` })
      if (backup.key_fingerprint !== keyring.fingerprint) {
        return yield* new Conflict({
          message: `backup ${id} is under another master key (fingerprint ${backup.key_fingerprint}): start a server with that key to restore it`
        })
      }
      const name = objectName(backup)
      return yield* detached(
        restoreBeside({
          dbPath,
          key: keyring.backupKey,
          mark: { id, name },
          size: backup.size_bytes,
          content: store.read(name)
        }).pipe(
          // Whoever restores can hold the live logs against them, and knows from where on kept heads are of other entries.
          Effect.tap(({ heads }) =>
            Effect.forEach(
              heads,
              ({ chain, log, seq }) => Effect.logInfo(`audit head of ${log} in backup ${id}: ${seq} ${chain}`),
              { discard: true }
            )
          ),
          Effect.map(({ path, size_bytes }): Restore => ({ id, path, size_bytes })),
          Effect.tap(() => audit.write(sourceOf(everywhere), event("backup.restore", backup))),
          oneRestore.withPermits(1),
          Effect.catchTags(failed("the restore"))
        )
      )
    })

    /**
     * When the newest scheduled backup of this instance was made, in milliseconds since 1970. A store that cannot tell is a
     * backup that failed.
     */
    const lastScheduled = Effect.map(own, (backups) =>
      Option.map(Option.fromNullable(backups.find(({ trigger }) => trigger === "scheduled")), ({ created_at }) =>
        Date.parse(created_at)
      )
    ).pipe(Effect.onError((cause) => noteOutcome(Exit.failCause(cause))))

    /** Deletes what the retention rule no longer keeps, of this instance alone. */
    const tidy = Effect.gen(function* () {
      const store = yield* configured
      if (settings === null) return
      const rule = { days: settings.retainDailyDays, weeks: settings.retainWeeklyWeeks }
      const gone = expired(yield* own, yield* Clock.currentTimeMillis, rule)
      yield* Effect.forEach(gone, (backup) => store.remove(objectName(backup)), { discard: true })
      if (gone.length > 0) yield* Effect.logInfo(`${gone.length} backups were older than the retention and are deleted`)
    }).pipe(Effect.catchTag("StoreFailure", storeFailed("the retention of backups")), Effect.withSpan("Backups.tidy"))

    /** Backs the database up as the schedule asks for, then deletes what is older than the retention. */
    const scheduled = Effect.zipLeft(
      make(schedule, "scheduled"),
      // It has been logged, and the next backup tries again.
      Effect.catchTag(tidy, "BackupFailed", () => Effect.void)
    )

    return { create, list, restore, lastScheduled, scheduled } as const
  })
}) {}
