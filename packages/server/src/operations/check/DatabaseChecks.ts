import { existsSync, statSync } from "node:fs"
import Sqlite from "better-sqlite3"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { newestMigration } from "../../database/sqlite/Migrations.js"
import { reasonOf } from "../../base/Reason.js"
import { timestamp } from "../../base/Time.js"
import { makeKeyring, unwrapBytes } from "../../keys/Keyring.js"
import { NamedWrappedRow } from "../../keys/WrappedRows.js"
import type { Settings } from "../../base/Config.js"
import { failed, type Finding, ok, warning } from "./Finding.js"
import { listedLogs, logsFindings } from "./LogsCheck.js"
import { openFile } from "../../database/sqlite/SqliteFile.js"

class CannotRead extends Data.TaggedError("CannotRead")<{ readonly reason: string; readonly busy: boolean }> {}

const isBusy = (cause: unknown): boolean => cause instanceof Sqlite.SqliteError && cause.code.startsWith("SQLITE_BUSY")

const attempt = <A>(read: () => A): Effect.Effect<A, CannotRead> =>
  Effect.try({ try: read, catch: (cause) => new CannotRead({ reason: reasonOf(cause), busy: isBusy(cause) }) })

/** Opens a read-only connection that takes no lock a server would wait for. */
const opened = (path: string) =>
  Effect.acquireRelease(
    attempt(() => openFile(path, { readonly: true, fileMustExist: true, timeout: 0 })),
    (database) => Effect.sync(() => database.close())
  )

/** Whether a server or an offline command uses the database, which holds its lock file exclusively. */
const isOwned = (dbPath: string) =>
  existsSync(`${dbPath}.lock`)
    ? Effect.scoped(
        Effect.flatMap(opened(`${dbPath}.lock`), (lock) =>
          attempt(() => lock.prepare("SELECT count(*) FROM sqlite_schema").get())
        )
      ).pipe(
        Effect.as(false),
        Effect.catchAll(({ busy }) => Effect.succeed(busy))
      )
    : Effect.succeed(false)

export const wrappedKeys = "SELECT name, format, kek_id, nonce, ciphertext FROM wrapped_keys ORDER BY name DESC"

const restore = "restore a backup: docs/operations/restore.md"

const schemaFinding = (schema: number): Finding | null => {
  const known = newestMigration
  if (schema === known) return null
  return schema > known
    ? failed(
        "database",
        `its schema is version ${schema}, but this program supports ${known}`,
        "run the newer coffer-server"
      )
    : warning(
        "database",
        `its schema is version ${schema}, and this program's is ${known}`,
        "the next start migrates it and keeps a copy: make sure that the disk has room for one"
      )
}

const databaseFinding = (database: Sqlite.Database, dbPath: string, owned: boolean) =>
  Effect.gen(function* () {
    const problem = yield* attempt(() => String(database.pragma("quick_check(1)", { simple: true })))
    if (problem !== "ok") return failed("database", `${dbPath} is damaged: ${problem}`, restore)
    const schema = yield* attempt(() =>
      Number(database.prepare("SELECT coalesce(max(migration_id), 0) FROM effect_sql_migrations").pluck().get())
    )
    const mebibytes = (statSync(dbPath).size / 1024 / 1024).toFixed(1)
    const user = owned ? "a server is running on it" : "no server is running on it"
    return schemaFinding(schema) ?? ok("database", `${dbPath} is sound, ${mebibytes} MiB, schema ${schema}; ${user}`)
  })

/** Checks the master key with the rows of `wrapped_keys`, the one named `check` first. */
export const keyFinding = (found: ReadonlyArray<unknown>, settings: Settings) =>
  Effect.gen(function* () {
    const keyring = yield* makeKeyring(settings.masterKey)
    const rows = yield* Schema.decodeUnknown(Schema.Array(NamedWrappedRow))(found)
    if (!rows.some(({ name }) => name === "check")) {
      return failed("key", "the database has no entry to check the master key with", restore)
    }
    for (const row of rows) {
      if (Either.isRight(yield* Effect.either(unwrapBytes(keyring, row.name, row)))) continue
      return row.name === "check"
        ? failed(
            "key",
            `the master key (fingerprint ${keyring.fingerprint}) does not open the database`,
            "set the key of this database: docs/operations/lost-key.md"
          )
        : failed("key", `the database's wrapped key "${row.name}" is damaged`, restore)
    }
    return ok("key", `the master key (fingerprint ${keyring.fingerprint}) opens the database`)
  }).pipe(
    Effect.catchTag("ParseError", () => Effect.succeed(failed("key", "the database's keys are damaged", restore)))
  )

const tolerance = Duration.toMillis("5 minutes")
/** This program was written later, so an earlier clock is wrong. */
const earliest = Date.UTC(2025, 0, 1)

const clockFinding = (now: number, newest: string | null): Finding => {
  const setIt = "set the clock (timedatectl status) before the server starts: codes, sessions and backups depend on it"
  if (now < earliest) return failed("clock", `the clock says ${timestamp(now)}`, setIt)
  return newest !== null && Date.parse(newest) > now + tolerance
    ? failed("clock", `the clock says ${timestamp(now)}, but the newest audit entry is from ${newest}`, setIt)
    : ok("clock", `the clock says ${timestamp(now)}${newest === null ? "" : `, after the newest audit entry`}`)
}

const newestEntry = (database: Sqlite.Database) =>
  attempt(() =>
    database.prepare<[], string>("SELECT created_at FROM audit_entries ORDER BY position DESC LIMIT 1").pluck().get()
  )

const hasList = (database: Sqlite.Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit_logs'").get() !== undefined

/** The wrapped keys and the list of audit logs of one moment. */
const keysAndLogs = (database: Sqlite.Database) =>
  attempt(
    database.transaction(() => ({
      keys: database.prepare(wrappedKeys).all(),
      logs: hasList(database) ? database.prepare(listedLogs).all() : null
    }))
  )

/** Checks the database, the key and the clock by reading only, so it works while a server runs. */
export const databaseChecks = (settings: Settings): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.gen(function* () {
    const { dbPath } = settings
    const now = yield* Clock.currentTimeMillis
    if (!existsSync(dbPath)) {
      const absent = warning(
        "database",
        `there is no database at ${dbPath}`,
        "the server creates one when it starts; if there should be one, correct SERVICE_DB_PATH"
      )
      return [absent, clockFinding(now, null)]
    }
    const owned = yield* isOwned(dbPath)
    const database = yield* opened(dbPath)
    const finding = yield* databaseFinding(database, dbPath, owned)
    const { keys, logs } = yield* keysAndLogs(database)
    return [
      finding,
      yield* keyFinding(keys, settings),
      ...(logs === null ? [] : yield* logsFindings(keys, logs, settings)),
      clockFinding(now, (yield* newestEntry(database)) ?? null)
    ]
  }).pipe(
    Effect.scoped,
    Effect.catchAll(({ message, reason }: { readonly message: string; readonly reason?: string }) =>
      Effect.succeed([
        failed(
          "database",
          `${settings.dbPath} cannot be read: ${reason ?? message}`,
          `run the check as the server's user; if the file is damaged, ${restore}`
        )
      ])
    )
  )
