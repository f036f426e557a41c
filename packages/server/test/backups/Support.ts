import { readdirSync } from "node:fs"
import { basename, dirname } from "node:path"
import { Forbidden } from "@coffer/domain/errors/Errors"
import { BackupId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { Backups, type Recording } from "@coffer/server/operations/backups/Backups"
import { Database } from "@coffer/server/database/Database"
import { Effect, Layer } from "effect"
import { asUser, DbPath, freshPath, invariants, servicesAt } from "../support/Services.js"

process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true"

type Environment = Readonly<Record<string, string>>

/** The services with backups, over the database at a path. */
export const backupsAt = (path: string, environment: Environment) =>
  Backups.Default.pipe(Layer.provideMerge(servicesAt(path, environment)))

/** Runs a test with backups on a database of its own; when the services have ended, the file's invariants are checked. */
export const withBackups =
  (environment: Environment) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const result = yield* Effect.provide(Effect.scoped(test), backupsAt(path, environment))
      yield* invariants(path)
      return result
    }).pipe(Effect.scoped)

const asRoot = asUser("root@example.com", { superadmin: true })

const serverPlace = Effect.flatMap(Access, (access) => access.serverPlace("backup.create")).pipe(asRoot)

/** Records without a question: these tests are logged in with no session. */
export const recording = Effect.map(Database, ({ transaction }): Recording => transaction)

/** Refuses what is to be recorded, as where the caller's right is gone meanwhile. */
export const refusing = Effect.map(
  Database,
  ({ transaction }): Recording =>
    (record) =>
      transaction(Effect.zipRight(record, new Forbidden({ message: "not any more" })))
)

export const createBackupBy = <E, R>(recording: Effect.Effect<Recording, E, R>) =>
  Effect.gen(function* () {
    return yield* (yield* Backups).create(yield* serverPlace, yield* recording)
  })

export const createBackup = createBackupBy(recording)

/** Makes a backup as the schedule does. */
export const scheduledBackup = Effect.gen(function* () {
  const { transaction } = yield* Database
  return yield* (yield* Backups).scheduled(transaction)
})

export const listBackups = Effect.flatMap(serverPlace, (proof) =>
  Effect.flatMap(Backups, (backups) => Effect.map(backups.list(proof), ({ data }) => data))
)

export const restoreBackupBy = <E, R>(id: string, recording: Effect.Effect<Recording, E, R>) =>
  Effect.gen(function* () {
    return yield* (yield* Backups).restore(yield* serverPlace, BackupId.make(id), yield* recording)
  })

export const restoreBackup = (id: string) => restoreBackupBy(id, recording)

export const drillBackupBy = <E, R>(id: string | undefined, recording: Effect.Effect<Recording, E, R>) =>
  Effect.gen(function* () {
    return yield* (yield* Backups).drill(
      yield* serverPlace,
      id === undefined ? undefined : BackupId.make(id),
      yield* recording
    )
  })

/** The files beside a database that are neither it nor SQLite's own, nor its lock. */
export const strays = (path: string): ReadonlyArray<string> =>
  readdirSync(dirname(path)).filter((name) => !/^(-wal|-shm|\.lock|)$/.test(name.replace(basename(path), "")))

export const noStrays = Effect.map(DbPath, strays)
