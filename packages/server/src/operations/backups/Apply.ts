import { constants, lstatSync } from "node:fs"
import { chmod, copyFile, link, rename, rm } from "node:fs/promises"
import { basename, dirname } from "node:path"
import type { BackupCounts } from "@coffer/domain/server/Backup"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import type { PostgresSettings } from "../../base/config/DatabaseSettings.js"
import { targetName } from "../../base/config/DatabaseUrl.js"
import { Database } from "../../database/Database.js"
import { lock } from "../../database/sqlite/Lock.js"
import { query } from "../../database/Query.js"
import { reasonOf } from "../../base/Reason.js"
import {
  checkSound,
  countsAt,
  filesBeside,
  type GoodKey,
  goodKeysAt,
  logOf,
  settleLog
} from "../offline/OfflineFile.js"
import { DatabaseLive } from "../../database/sqlite/SqliteDatabase.js"
import { timestamp } from "../../base/Time.js"
import { beginEpoch } from "../rotation/BeginEpoch.js"
import { InstanceLive } from "../../keys/Instance.js"
import { KeyringLive } from "../../keys/Keyring.js"
import { StartupError } from "../../base/StartupError.js"
import { fillEmpty } from "./FillEmpty.js"
import { backupsRepo } from "./Repo.js"
import { flushToDisk } from "../../base/files/LocalFiles.js"
import { removeLeftovers, temporaryFile } from "../../database/sqlite/TemporaryFiles.js"
import { stopPushes } from "../../secrets/delivery/StoppedPushes.js"
import { pauseRotations } from "../../secrets/rotations/PausedRotations.js"
import { skipEvents } from "../../edges/webhooks/Restored.js"

const refused = (message: string) => new StartupError({ message: `${message}; nothing was changed` })

const step = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: (error) => refused(`the database cannot be swapped: ${reasonOf(error)}`) })

const flushed = (path: string) =>
  Effect.catchTag(flushToDisk(path), "LocalFailure", ({ reason }) =>
    refused(`the database cannot be swapped: ${reason}`)
  )

const statOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })

/** Checks that both files may be swapped. Returns whether there is a database to replace. */
const checkFiles = (file: string, dbPath: string) =>
  Effect.gen(function* () {
    const { replaced, restored, wal } = yield* Effect.try({
      try: () => ({ restored: statOf(file), replaced: statOf(dbPath), wal: statOf(logOf(file)) }),
      catch: (error) => refused(reasonOf(error))
    })
    if (restored === undefined) return yield* refused(`${file} does not exist`)
    if (!restored.isFile()) return yield* refused(`${file} is not a regular file`)
    if (replaced !== undefined && !replaced.isFile()) return yield* refused(`${dbPath} is not a regular file`)
    if (replaced !== undefined && replaced.ino === restored.ino && replaced.dev === restored.dev) {
      return yield* refused(`${file} is the database itself`)
    }
    if (wal !== undefined && wal.size > 0) {
      return yield* refused(`${file} has a write-ahead log beside it, so it is incomplete without it`)
    }
    return replaced !== undefined
  })

const MomentRow = Schema.Struct({ moment: Schema.NullOr(Schema.String) })

/**
 * Records in the copy that it becomes the live database, because retention keeps the backups that are newer. A file that is not
 * from a restore, such as a replaced database, dates from its newest audit entry.
 */
const recordRestore = (current: string) =>
  Effect.gen(function* () {
    const repo = yield* backupsRepo
    const { one } = yield* query
    const newest = one(MomentRow)`
      SELECT coalesce(max(created_at), (SELECT created_at FROM instance)) AS moment FROM audit_heads`
    const mark = yield* repo.newestRestore({})
    yield* repo.noteApplied({ now: current })
    if (mark !== undefined) return mark
    const made = { backup_id: null, backup_created_at: (yield* newest({})).moment ?? current }
    yield* repo.insertRestore({ backupCreatedAt: made.backup_created_at, now: current })
    return made
  })

/** Ends all sessions and pending codes, starts a new epoch, skips events, and records the restore. */
const prepare = (file: string, current: string) =>
  Effect.gen(function* () {
    const { transaction } = yield* Database
    const audit = yield* AuditLog
    return yield* transaction(
      Effect.gen(function* () {
        const ended = yield* beginEpoch
        yield* skipEvents
        yield* pauseRotations
        yield* stopPushes
        const { backup_created_at, backup_id } = yield* recordRestore(current)
        yield* audit.change(systemSource("coffer-server restore"), {
          action: "backup.restore",
          resource_type: "backup",
          resource_id: backup_id,
          metadata: {
            file: basename(file),
            ...(backup_id !== null && { backup_created_at }),
            sessions_ended: ended.sessions,
            codes_ended: ended.codes
          }
        })
        return { ...ended, asOf: backup_created_at }
      })
    )
  })

const describeCounts = ({ environments, organizations, projects, secrets, versions }: BackupCounts): string =>
  `organizations: ${organizations}, projects: ${projects}, environments: ${environments}, secrets: ${secrets}, versions: ${versions}`

/** The services of `prepare`. As at a start, they fail for a wrong master key or a newer schema. */
const ServicesLive = Layer.mergeAll(AuditLog.Default).pipe(
  Layer.provide(InstanceLive),
  Layer.provideMerge(DatabaseLive),
  Layer.provide(KeyringLive)
)

/**
 * Replaces the database by the copy. A crash at any point leaves a database: the old file gets a second name first, its
 * write-ahead log is removed, and one rename replaces the file.
 */
const swap = (dbPath: string, copy: string, replaced: string | null) =>
  Effect.gen(function* () {
    const rest = statOf(logOf(copy))
    if (rest !== undefined && rest.size > 0) return yield* refused("the restored database could not be written whole")
    yield* flushed(copy)
    if (replaced !== null) {
      // The log of a damaged database cannot be merged; it is moved below.
      yield* settleLog(dbPath)
      yield* step(() => link(dbPath, replaced))
      yield* step(() => chmod(replaced, 0o600))
    }
    const wal = statOf(logOf(dbPath))
    if (replaced !== null && wal !== undefined && wal.size > 0) {
      yield* step(() => rename(logOf(dbPath), logOf(replaced)))
    }
    for (const path of filesBeside(dbPath)) yield* step(() => rm(path, { force: true }))
    yield* step(() => rename(copy, dbPath))
    yield* flushed(dirname(dbPath))
  }).pipe(Effect.uninterruptible)

/** Copies a restored file beside the database, migrates the copy and prepares it to be the live database. */
const preparedCopy = (file: string, now: string) =>
  Effect.gen(function* () {
    const settings = yield* ServerConfig
    const copy = yield* temporaryFile(settings.dbPath, "apply")
    yield* step(() => copyFile(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE))
    yield* step(() => chmod(copy, 0o600))
    yield* Effect.mapError(checkSound(copy), (reason) => refused(`${file} is not a Coffer database: ${reason}`))
    const ended = yield* prepare(file, now).pipe(
      Effect.provide(ServicesLive),
      Effect.provideService(ServerConfig, { ...settings, dbPath: copy })
    )
    const keys = yield* Effect.mapError(goodKeysAt(copy, now), refused)
    const counts = yield* Effect.mapError(countsAt(copy), refused)
    return { copy, ended, keys, counts } as const
  })

type PreparedCopy = Effect.Effect.Success<ReturnType<typeof preparedCopy>>

const report = (name: string, file: string, { counts, ended }: PreparedCopy) =>
  Effect.gen(function* () {
    yield* Console.log(`${name} is now the database of ${file}: remove that file once everything works`)
    yield* Console.log(`its data is from ${ended.asOf}${counts === null ? "" : `, with ${describeCounts(counts)}`}`)
    yield* Console.log(`${ended.sessions} sessions and ${ended.codes} pending login codes were ended`)
  })

/** Names the API keys that are valid again. `before` are those of the replaced database, if there is one. */
const reportKeys = ({ keys }: PreparedCopy, before: Option.Option<ReadonlyArray<GoodKey>>) =>
  Effect.gen(function* () {
    const good = new Set(Option.getOrElse(before, (): ReadonlyArray<GoodKey> => []).map((key) => key.token_hash))
    const revived = keys.filter((key) => !good.has(key.token_hash))
    if (revived.length === 0) return
    yield* Console.error(
      Option.isSome(before)
        ? "these API keys are valid again, but were not valid in the replaced database: rotate or revoke them"
        : "these API keys are valid; there is no previous database to tell whether they were revoked"
    )
    for (const { account, hint, org } of revived) yield* Console.error(`  ${org}: ${account} (…${hint})`)
  })

const swapFile = (file: string, dbPath: string, now: string) =>
  Effect.gen(function* () {
    const isReplacing = yield* checkFiles(file, dbPath)
    yield* lock(dbPath)
    yield* removeLeftovers(dbPath)
    const prepared = yield* preparedCopy(file, now)
    const before = isReplacing ? yield* Effect.option(goodKeysAt(dbPath, now)) : Option.none()
    const replaced = isReplacing ? `${dbPath}.replaced-${now.replace(/[-:]/g, "")}` : null
    yield* swap(dbPath, prepared.copy, replaced)

    yield* report(dbPath, file, prepared)
    if (replaced !== null) {
      yield* Console.log(`the database that it replaces is kept as ${replaced}`)
      yield* Console.log(
        statOf(logOf(replaced)) === undefined
          ? `to undo this, with the server stopped: coffer-server restore --apply ${replaced}`
          : "that database is damaged, and its write-ahead log is beside it"
      )
    }
    yield* reportKeys(prepared, before)
  })

const fillDatabase = (file: string, dbPath: string, now: string, postgres: PostgresSettings) =>
  Effect.gen(function* () {
    yield* checkFiles(file, dbPath)
    const prepared = yield* preparedCopy(file, now)
    yield* fillEmpty(prepared.copy, postgres)
    yield* report(targetName(postgres.target), file, prepared)
    yield* reportKeys(prepared, Option.none())
  })

/**
 * `coffer-server restore --apply FILE`: replaces the database by a copy of a restored file, offline; with PostgreSQL, fills an
 * empty database. Prints what was done, and to standard error the API keys that are valid again. Fails without a change while a
 * server runs, or if the file is not an intact database of the configured master key.
 */
export const applyRestore = (file: string) =>
  Effect.gen(function* () {
    const { dbPath, postgres } = yield* ServerConfig
    const now = timestamp(yield* Clock.currentTimeMillis)
    yield* postgres === null ? swapFile(file, dbPath, now) : fillDatabase(file, dbPath, now, postgres)
  }).pipe(Effect.scoped)
