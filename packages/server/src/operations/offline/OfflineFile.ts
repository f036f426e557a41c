import type { BackupCounts } from "@coffer/domain/server/Backup"
import type Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { reasonOf } from "../../base/Reason.js"
import { countsOf, faultsOf } from "../../database/sqlite/Faults.js"
import { openFile } from "../../database/sqlite/SqliteFile.js"

/** Opens a separate connection to an existing file. Fails with the engine's reason. */
const using = <A>(path: string, options: Sqlite.Options, use: (database: Sqlite.Database) => A) =>
  Effect.scoped(
    Effect.acquireRelease(
      Effect.try({ try: () => openFile(path, { fileMustExist: true, ...options }), catch: reasonOf }),
      (database) => Effect.sync(() => database.close())
    ).pipe(Effect.flatMap((database) => Effect.try({ try: () => use(database), catch: reasonOf })))
  )

const reading = <A>(path: string, use: (database: Sqlite.Database) => A) => using(path, { readonly: true }, use)

/** Fails with a reason unless the file is an intact database of this program. */
export const checkSound = (path: string): Effect.Effect<void, string> =>
  reading(
    path,
    (database) =>
      database.pragma("integrity_check", { simple: true }) === "ok" &&
      database.prepare("PRAGMA foreign_key_check").all().length === 0 &&
      database.prepare("SELECT id FROM instance").all().length === 1
  ).pipe(
    Effect.filterOrFail(
      (sound) => sound,
      () => "it fails its integrity checks"
    ),
    Effect.asVoid
  )

export interface GoodKey {
  readonly token_hash: string
  readonly hint: string
  readonly account: string
  readonly org: string
}

const goodKeys = `SELECT k.token_hash, k.hint, a.name AS account, o.name AS org FROM api_keys k
  JOIN service_accounts a ON a.id = k.service_account_id AND a.removed_at IS NULL
  JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
  LEFT JOIN projects p ON p.id = a.project_id
  WHERE p.removed_at IS NULL AND k.removed_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)
  ORDER BY o.name, a.name, k.created_at`

/** The API keys of a database file that are valid at `now`. */
export const goodKeysAt = (path: string, now: string): Effect.Effect<ReadonlyArray<GoodKey>, string> =>
  reading(path, (database) => database.prepare<[string], GoodKey>(goodKeys).all(now))

/** Counts the records of a database file. */
export const countsAt = (path: string): Effect.Effect<BackupCounts | null, string> =>
  reading(path, (database) => countsOf(database) ?? null)

/** Returns the faults and the record counts of a database file. A file that cannot be read is a defect. */
export const inspect = (path: string) =>
  Effect.orDie(reading(path, (database) => ({ problems: faultsOf(database), counts: countsOf(database) ?? null })))

/** The instance id of a database file; none if the file or the id cannot be read. */
export const instanceAt = (path: string): Effect.Effect<Option.Option<string>> =>
  reading(path, (database) => database.prepare<[], { readonly id: string }>("SELECT id FROM instance").get()?.id).pipe(
    Effect.map(Option.fromNullable),
    Effect.orElseSucceed(() => Option.none())
  )

/** Tries to move the write-ahead log into the database file, so that the file alone is complete. */
export const settleLog = (path: string): Effect.Effect<void> =>
  Effect.ignore(using(path, {}, (database) => database.pragma("wal_checkpoint(TRUNCATE)")))

/** The write-ahead log beside a database file. */
export const logOf = (path: string): string => `${path}-wal`

/** The files that SQLite keeps beside a database file. */
export const filesBeside = (path: string): ReadonlyArray<string> => [logOf(path), `${path}-shm`, `${path}-journal`]
