import { randomBytes } from "node:crypto"
import { constants, lstatSync } from "node:fs"
import { chmod, copyFile, link, rename, rm } from "node:fs/promises"
import { basename, dirname } from "node:path"
import type { BackupCounts } from "@coffer/domain/Backup"
import { Clock, Console, Effect, Layer, Option, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import { ServerConfig } from "../Config.js"
import { Database } from "../database/Database.js"
import { lock } from "../database/sqlite/Lock.js"
import { query } from "../database/Query.js"
import {
  checkSound,
  countsAt,
  filesBeside,
  type GoodKey,
  goodKeysAt,
  logOf,
  settleLog
} from "../database/sqlite/OfflineFile.js"
import { DatabaseLive } from "../database/sqlite/SqliteDatabase.js"
import { timestamp } from "../database/Time.js"
import { InstanceLive } from "../keys/Instance.js"
import { KeyringLive } from "../keys/Keyring.js"
import { StartupError } from "../StartupError.js"
import { BackupsRepo } from "./Repo.js"
import { flushToDisk } from "./Restore.js"
import { removeLeftovers, temporaryFile } from "./TemporaryFiles.js"

const refused = (message: string) => new StartupError({ message: `${message}; nothing was changed` })

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const step = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: (error) => refused(`the database cannot be swapped: ${reasonOf(error)}`) })

const flushed = (path: string) =>
  Effect.catchTag(flushToDisk(path), "LocalFailure", ({ reason }) =>
    refused(`the database cannot be swapped: ${reason}`)
  )

const look = (path: string) => lstatSync(path, { throwIfNoEntry: false })

/** Refuses what is no restored file, or lacks a part of itself. */
const guard = (file: string, dbPath: string) =>
  Effect.gen(function* () {
    const { replaced, restored, wal } = yield* Effect.try({
      try: () => ({ restored: look(file), replaced: look(dbPath), wal: look(logOf(file)) }),
      catch: (error) => refused(reasonOf(error))
    })
    if (restored === undefined) return yield* refused(`${file} is not there`)
    if (!restored.isFile()) return yield* refused(`${file} is not a regular file`)
    if (replaced !== undefined && !replaced.isFile()) return yield* refused(`${dbPath} is not a regular file`)
    if (replaced !== undefined && replaced.ino === restored.ino && replaced.dev === restored.dev) {
      return yield* refused(`${file} is the database itself`)
    }
    if (wal !== undefined && wal.size > 0) {
      return yield* refused(`${file} has a write-ahead log beside it, so it is not whole without it`)
    }
    return replaced !== undefined
  })

const IdRow = Schema.Struct({ id: Schema.String })
const MomentRow = Schema.Struct({ moment: Schema.NullOr(Schema.String) })

/**
 * Notes in the copy that it is the live database from now on, so that the retention spares what is newer. A file that no
 * restore has made, such as a database that was replaced by mistake, is as old as its newest audit entry.
 */
const noteRestore = (current: string) =>
  Effect.gen(function* () {
    const repo = yield* BackupsRepo
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

/** Ends every session and pending code of the database, gives it a new epoch, and records that and the restore. */
const prepare = (file: string, current: string) =>
  Effect.gen(function* () {
    const { returning, write } = yield* query
    const { transaction } = yield* Database
    const audit = yield* AuditLog
    const endSessions = returning(IdRow)`DELETE FROM sessions RETURNING id`
    const endCodes = returning(IdRow)`UPDATE login_codes SET state = 'replaced' WHERE state = 'pending' RETURNING id`
    const beginEpoch = write`UPDATE instance SET epoch = ${"epoch"}`
    return yield* transaction(
      Effect.gen(function* () {
        const sessions = yield* endSessions({})
        const codes = yield* endCodes({})
        yield* beginEpoch({ epoch: randomBytes(8).toString("hex") })
        const ended = { sessions: sessions.length, codes: codes.length }
        const { backup_created_at, backup_id } = yield* noteRestore(current)
        yield* audit.write(
          { actor: { type: "system", id: null, name: "coffer-server restore" }, orgId: null },
          {
            action: "backup.restore",
            resource_type: "backup",
            resource_id: backup_id,
            metadata: {
              file: basename(file),
              ...(backup_id !== null && { backup_created_at }),
              sessions_ended: ended.sessions,
              codes_ended: ended.codes
            }
          }
        )
        return { ...ended, asOf: backup_created_at }
      })
    )
  })

const holds = ({ environments, organizations, projects, secrets, versions }: BackupCounts): string =>
  `organizations: ${organizations}, projects: ${projects}, environments: ${environments}, secrets: ${secrets}, versions: ${versions}`

/** The services that `prepare` needs, on the copy: a wrong master key and a newer schema are refused as at a start. */
const ServicesLive = Layer.merge(AuditLog.Default, BackupsRepo.Default).pipe(
  Layer.provide(InstanceLive),
  Layer.provideMerge(DatabaseLive),
  Layer.provide(KeyringLive)
)

/**
 * Puts the copy in the database's place. There is a database at every moment: the old one gets a second name first, its
 * write-ahead log goes before the new one comes, and the new one takes the name by one rename.
 */
const swap = (dbPath: string, copy: string, replaced: string | null) =>
  Effect.gen(function* () {
    const rest = look(logOf(copy))
    if (rest !== undefined && rest.size > 0) return yield* refused("the restored database could not be written whole")
    yield* flushed(copy)
    if (replaced !== null) {
      // A damaged one keeps its log beside it.
      yield* settleLog(dbPath)
      yield* step(() => link(dbPath, replaced))
      yield* step(() => chmod(replaced, 0o600))
    }
    const wal = look(logOf(dbPath))
    if (replaced !== null && wal !== undefined && wal.size > 0) {
      yield* step(() => rename(logOf(dbPath), logOf(replaced)))
    }
    for (const path of filesBeside(dbPath)) yield* step(() => rm(path, { force: true }))
    yield* step(() => rename(copy, dbPath))
    yield* flushed(dirname(dbPath))
  }).pipe(Effect.uninterruptible)

/**
 * Swaps the database for a restored file, offline: `coffer-server restore --apply FILE`. Says on standard output what was
 * done, and on standard error which API keys are good again. FILE stays as it is. Fails, with nothing changed, while a
 * server runs, and when the file is not a sound database under the configured master key.
 */
export const applyRestore = (file: string) =>
  Effect.gen(function* () {
    const settings = yield* ServerConfig
    const { dbPath } = settings
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    const isReplacing = yield* guard(file, dbPath)
    yield* lock(dbPath)
    yield* removeLeftovers(dbPath)

    const copy = yield* temporaryFile(dbPath, "apply")
    yield* step(() => copyFile(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE))
    yield* step(() => chmod(copy, 0o600))
    yield* Effect.mapError(checkSound(copy), (reason) =>
      refused(`${file} is not a database of this server's: ${reason}`)
    )
    const ended = yield* prepare(file, now).pipe(
      Effect.provide(ServicesLive),
      Effect.provideService(ServerConfig, { ...settings, dbPath: copy })
    )
    const restored = yield* Effect.mapError(goodKeysAt(copy, now), refused)
    const counts = yield* Effect.mapError(countsAt(copy), refused)
    const before = isReplacing ? yield* Effect.option(goodKeysAt(dbPath, now)) : Option.none()

    const replaced = isReplacing ? `${dbPath}.replaced-${now.replace(/[-:]/g, "")}` : null
    yield* swap(dbPath, copy, replaced)

    yield* Console.log(`${dbPath} is now the database of ${file}, which is still there: remove it when all is well`)
    yield* Console.log(`it is as of ${ended.asOf}${counts === null ? "" : `, with ${holds(counts)}`}`)
    yield* Console.log(`${ended.sessions} sessions and ${ended.codes} pending login codes were ended`)
    if (replaced !== null) {
      yield* Console.log(`the database that it replaces is kept as ${replaced}`)
      yield* Console.log(
        look(logOf(replaced)) === undefined
          ? `to take this back, with the server stopped: coffer-server restore --apply ${replaced}`
          : "it is damaged: its write-ahead log is kept beside it"
      )
    }
    const good = new Set(Option.getOrElse(before, (): ReadonlyArray<GoodKey> => []).map((key) => key.token_hash))
    const revived = restored.filter((key) => !good.has(key.token_hash))
    if (revived.length === 0) return
    yield* Console.error(
      Option.isSome(before)
        ? "these API keys are good again, and were not in the database that was replaced: rotate or revoke them"
        : "these API keys are good, and there was no database that could tell whether they had been revoked"
    )
    for (const { account, hint, org } of revived) yield* Console.error(`  ${org}: ${account} (…${hint})`)
  }).pipe(Effect.scoped)
