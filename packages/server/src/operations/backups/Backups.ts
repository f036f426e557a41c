import { randomBytes } from "node:crypto"
import { createReadStream } from "node:fs"
import { rm, stat } from "node:fs/promises"
import type { Backup, BackupList, Restore } from "@coffer/domain/server/Backup"
import { type Forbidden, NotFound, type Unauthorized } from "@coffer/domain/errors/Errors"
import { BackupId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { ServerPlace } from "../../access/ServerPlace.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { type AuditSource, superadminSource, systemSource } from "../../audit/AuditEvent.js"
import { ServerConfig } from "../../base/Config.js"
import { Database, type Transaction } from "../../database/Database.js"
import { Snapshots } from "../../database/Snapshots.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Instance } from "../../keys/Instance.js"
import { decryptionFailures, Keyring, nonceBytes } from "../../keys/Keyring.js"
import { overheadBytes, sealBackup } from "./BackupFile.js"
import { noteDrill, noteNewest, noteOutcome } from "./BackupMetrics.js"
import { countBackup, drillBackup, drillLine } from "./Drill.js"
import { disabled, failed, otherKey, storeFailed } from "./BackupFailures.js"
import { localFailure } from "../../base/files/LocalFailure.js"
import { type Fenced, isLeaseLost } from "../../database/jobs/Lease.js"
import { backupOf, byTime, objectName } from "./ObjectName.js"
import { makeObjectStore } from "./ConfiguredStore.js"
import { backupsRepo } from "./Repo.js"
import { restoreBeside } from "./Restore.js"
import { keepReason, removalReason, type RestoreMark, retain } from "./Retention.js"
import { takeSnapshot } from "./Snapshot.js"
import { removeLeftovers, temporaryFile } from "../../database/sqlite/TemporaryFiles.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { forEachInSlices } from "../../base/EventLoop.js"

const pieceBytes = 256 * 1024

/** The head of an audit log in a backup, as a line of JSON. */
const Head = Schema.parseJson(Schema.Struct({ log: Schema.String, seq: Schema.Number, chain: Schema.String }))
const decodeHead = Schema.decodeUnknown(Head)

const newestFirst = Order.reverse(byTime)

const schedule = systemSource("backup schedule")

const event = (
  action: "backup.create" | "backup.restore" | "backup.drill",
  { id, size_bytes, trigger }: Backup,
  more: Readonly<Record<string, unknown>> = {}
) => ({ action, resource_type: "backup", resource_id: id, metadata: { id, size_bytes, trigger, ...more } }) as const

/**
 * Runs the transaction that records a finished operation. It checks the caller's right again, because a backup takes long; if
 * that fails, the caller of `Recording` removes the result.
 */
export type Recording = (
  record: Effect.Effect<void, never, Transaction>
) => Effect.Effect<void, Forbidden | Unauthorized>

/**
 * Encrypted backups of the whole database in an object store. The store is the only record of them, so that a new machine with
 * the same master key can list and restore them.
 */
export class Backups extends Effect.Service<Backups>()("@coffer/server/Backups", {
  scoped: Effect.gen(function* () {
    const { backups: settings, dbPath, masterKey } = yield* ServerConfig
    const keyring = yield* Keyring
    const instance = yield* Instance
    const audit = yield* AuditLog
    const repo = yield* backupsRepo
    const snapshots = yield* Snapshots
    const { clock, transaction } = yield* Database
    const scope = yield* Effect.scope
    const oneBackup = yield* Effect.makeSemaphore(1)
    const oneRestore = yield* Effect.makeSemaphore(1)
    const oneDrill = yield* Effect.makeSemaphore(1)
    yield* removeLeftovers(dbPath)
    // A restored file may have been moved into place by hand.
    yield* transaction(repo.noteApplied({ now: yield* now }))
    const drills = settings === null ? [] : yield* repo.drills({})
    for (const drill of [drills.find(({ valid }) => valid === 1), drills[0]]) {
      if (drill !== undefined) yield* noteDrill({ ...drill, valid: drill.valid === 1 })
    }
    const objectStore = settings === null ? null : yield* makeObjectStore(settings)
    const configured = objectStore === null ? disabled : Effect.succeed(objectStore)

    /** Runs in the server's scope: a proxy may close the request after a minute, which must not end the backup. */
    const detached = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.flatMap(Effect.forkIn(work, scope), Fiber.join)

    const make = (source: AuditSource, trigger: "manual" | "scheduled", recording: Recording) =>
      Effect.gen(function* () {
        const store = yield* configured
        const draft = {
          id: BackupId.make(yield* uuidV7),
          created_at: timestamp(yield* clock),
          trigger,
          key_fingerprint: keyring.fingerprint,
          instance: instance.id
        }
        const name = objectName(draft)
        const path = yield* temporaryFile(dbPath, "backup")
        yield* takeSnapshot(snapshots, path, { id: draft.id, name })
        const { size } = yield* Effect.tryPromise({ try: () => stat(path), catch: localFailure })
        const backup: Backup = { ...draft, size_bytes: size + overheadBytes }
        yield* store.put(name, backup.size_bytes, () =>
          sealBackup(keyring.backupKey, randomBytes(nonceBytes), createReadStream(path, { highWaterMark: pieceBytes }))
        )
        yield* Effect.tapErrorCause(recording(audit.change(source, event("backup.create", backup))), (cause) =>
          Cause.isFailure(cause) || isLeaseLost(cause) ? store.remove(name) : Effect.void
        )
        yield* store
          .abandonUploads(`${instance.id}/`)
          .pipe(
            Effect.catchAll(({ message }) => Effect.logDebug(`unfinished uploads could not be removed: ${message}`))
          )
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

    /** Makes a backup now, after any that is already running. */
    const create = traced("Backups.create")((serverPlace: ServerPlace, recording: Recording) =>
      detached(make(superadminSource(serverPlace.actor), "manual", recording))
    )

    /** Lists all backups in the store, also of other instances, newest first. */
    const list = traced("Backups.list")((_everywhere: ServerPlace) =>
      Effect.zipWith(all, repo.organizations({}), (data, { count: organizations }): BackupList => ({
        data,
        server: { instance: instance.id, organizations }
      }))
    )

    /**
     * Decrypts a backup into a file beside the database; the live database is not changed. Fails with NotFound, with Conflict
     * for a backup of another master key (before the download), and with DecryptionFailed.
     */
    const restore = method("Backups.restore", function* (serverPlace: ServerPlace, id: BackupId, recording: Recording) {
      const store = yield* configured
      const backup = (yield* all).find((candidate) => candidate.id === id)
      if (backup === undefined) return yield* new NotFound({ message: `backup ${id} is not in the object store` })
      if (backup.key_fingerprint !== keyring.fingerprint) return yield* otherKey(backup, "restore")
      const name = objectName(backup)
      return yield* detached(
        restoreBeside({
          dbPath,
          key: keyring.backupKey,
          mark: { id, name },
          created_at: backup.created_at,
          size: backup.size_bytes,
          content: store.read(name)
        }).pipe(
          // With these heads, an operator can compare the live logs, and knows which recorded heads the restore invalidates.
          Effect.tap(({ heads }) =>
            forEachInSlices(heads, (line) =>
              Effect.flatMap(Effect.orDie(decodeHead(line)), ({ chain, log, seq }) =>
                Effect.logInfo(`audit head of ${log} in backup ${id}: ${seq} ${chain}`)
              )
            )
          ),
          Effect.bind("counts", ({ path }) => countBackup(path)),
          Effect.map(({ counts, path, size_bytes }): Restore => ({ id, path, size_bytes, counts })),
          Effect.tap(({ path }) =>
            Effect.tapError(
              recording(audit.change(superadminSource(serverPlace.actor), event("backup.restore", backup))),
              () => Effect.tryPromise({ try: () => rm(path), catch: localFailure })
            )
          ),
          Effect.tapErrorTag("DecryptionFailed", () =>
            Effect.all([
              Metric.increment(decryptionFailures),
              Effect.logError(`backup ${id} does not decrypt: the object in the store was changed`),
              transaction(
                audit.change(superadminSource(serverPlace.actor), {
                  action: "secret.decryption_failed",
                  resource_type: "backup",
                  resource_id: id
                })
              )
            ])
          ),
          oneRestore.withPermits(1),
          Effect.catchTags(failed("the restore"))
        )
      )
    })

    /**
     * Restores a backup (by default the newest one of this instance) into a scratch file and verifies it. Fails with NotFound and
     * Conflict like `restore`. A damaged backup is a result, not a failure.
     */
    const drill = method(
      "Backups.drill",
      function* (serverPlace: ServerPlace, id: BackupId | undefined, recording: Recording) {
        const store = yield* configured
        const backups = yield* all
        const backup = backups.find((candidate) =>
          id === undefined ? candidate.instance === instance.id : candidate.id === id
        )
        if (backup === undefined) {
          return yield* new NotFound({
            message:
              id === undefined
                ? "this server has no backup yet: make one with coffer backup create"
                : `backup ${id} is not in the object store`
          })
        }
        if (backup.key_fingerprint !== keyring.fingerprint) return yield* otherKey(backup, "check")
        return yield* detached(
          drillBackup({ backup, store, dbPath, masterKey, backupKey: keyring.backupKey }).pipe(
            Effect.tap((result) =>
              Effect.gen(function* () {
                const { problems, seconds, valid } = result
                const drilled_at = yield* now
                yield* recording(
                  Effect.zipRight(
                    repo.noteDrill({ backupId: backup.id, drilledAt: drilled_at, seconds, valid: valid ? 1 : 0 }),
                    audit.change(
                      superadminSource(serverPlace.actor),
                      event("backup.drill", backup, { valid, problems })
                    )
                  )
                )
                yield* noteDrill({ drilled_at, seconds, valid })
                yield* valid ? Effect.logInfo(drillLine(result)) : Effect.logError(drillLine(result))
              })
            ),
            oneDrill.withPermits(1),
            Effect.catchTags(failed("the drill"))
          )
        )
      }
    )

    /**
     * When the newest scheduled backup of this instance was made, in milliseconds since 1970. If the store cannot be listed, that
     * counts as a failed backup.
     */
    const lastScheduled = Effect.map(own, (backups) =>
      Option.map(Option.fromNullable(backups.find(({ trigger }) => trigger === "scheduled")), ({ created_at }) =>
        Date.parse(created_at)
      )
    ).pipe(Effect.onError((cause) => noteOutcome(Exit.failCause(cause))))

    /** Deletes the backups of this instance that the retention rule does not keep, and logs the reason for each. */
    const tidy = Effect.gen(function* () {
      const store = yield* configured
      if (settings === null) return
      const { retainDailyDays: days, retainWeeklyWeeks: weeks, scheduleHours } = settings
      const damaged = (yield* repo.drills({})).filter(({ valid }) => valid === 0).map(({ backup_id }) => backup_id)
      const restores = (yield* repo.restores({})).map(({ applied_at, backup_created_at }): RestoreMark => ({
        from: Date.parse(backup_created_at),
        appliedAt: Date.parse(applied_at)
      }))
      const known = { instance: instance.id, restores, damaged: new Set(damaged) }
      const { held, removed } = retain(yield* own, yield* clock, { days, weeks, scheduleHours }, known)
      if (held !== null) yield* Effect.logWarning(`retention: no backup is deleted: ${keepReason(held)}`)
      for (const { backup, by } of removed) {
        const name = objectName(backup)
        yield* store.remove(name)
        yield* Effect.logInfo(`retention: backup ${name} is deleted: ${removalReason(by)}`)
      }
    }).pipe(Effect.catchTag("StoreFailure", storeFailed("the retention of backups")), Effect.withSpan("Backups.tidy"))

    /** Makes a scheduled backup, then applies the retention rule. A server that has lost the lease of the job keeps none. */
    const scheduled = (fenced: Fenced) =>
      Effect.zipLeft(
        make(schedule, "scheduled", fenced),
        // The failure was logged, and the next backup tries again.
        Effect.catchTag(tidy, "BackupFailed", () => Effect.void)
      )

    return { create, list, restore, drill, lastScheduled, scheduled } as const
  })
}) {}
