import { readdirSync } from "node:fs"
import { basename, dirname } from "node:path"
import { BackupId } from "@coffer/domain/Names"
import { Access } from "@coffer/server/access/Access"
import { Backups } from "@coffer/server/backups/Backups"
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

const everywhere = Effect.flatMap(Access, (access) => access.everywhere("backup.create")).pipe(asRoot)

export const createBackup = Effect.flatMap(everywhere, (proof) =>
  Effect.flatMap(Backups, (backups) => backups.create(proof))
)

export const listBackups = Effect.flatMap(everywhere, (proof) =>
  Effect.flatMap(Backups, (backups) => Effect.map(backups.list(proof), ({ data }) => data))
)

export const restoreBackup = (id: string) =>
  Effect.flatMap(everywhere, (proof) => Effect.flatMap(Backups, (backups) => backups.restore(proof, BackupId.make(id))))

/** The files beside a database that are neither it nor SQLite's own, nor its lock. */
export const strays = (path: string): ReadonlyArray<string> =>
  readdirSync(dirname(path)).filter((name) => !/^(-wal|-shm|\.lock|)$/.test(name.replace(basename(path), "")))

export const noStrays = Effect.map(DbPath, strays)
