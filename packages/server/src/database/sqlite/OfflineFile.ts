import type { BackupCounts } from "@coffer/domain/Backup"
import Sqlite from "better-sqlite3"
import { Effect, Option } from "effect"
import { reasonOf } from "../Reason.js"
import { countsOf, faultsOf } from "./Faults.js"

/** Uses a connection of its own to a file that is there. Fails with the engine's reason. */
const using = <A>(path: string, options: Sqlite.Options, use: (database: Sqlite.Database) => A) =>
  Effect.scoped(
    Effect.acquireRelease(
      Effect.try({ try: () => new Sqlite(path, { fileMustExist: true, ...options }), catch: reasonOf }),
      (database) => Effect.sync(() => database.close())
    ).pipe(Effect.flatMap((database) => Effect.try({ try: () => use(database), catch: reasonOf })))
  )

const reading = <A>(path: string, use: (database: Sqlite.Database) => A) => using(path, { readonly: true }, use)

/** Fails with what is wrong with a database file, unless it is a sound one of this program's. */
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
      () => "it does not pass its checks"
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
  WHERE k.removed_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)
  ORDER BY o.name, a.name, k.created_at`

/** The API keys of a database file that are good at a moment. */
export const goodKeysAt = (path: string, now: string): Effect.Effect<ReadonlyArray<GoodKey>, string> =>
  reading(path, (database) => database.prepare<[string], GoodKey>(goodKeys).all(now))

/** What a database file holds. */
export const countsAt = (path: string): Effect.Effect<BackupCounts | null, string> =>
  reading(path, (database) => countsOf(database) ?? null)

/** What is wrong with a database file, and what it holds. A file that cannot be read is a defect. */
export const inspect = (path: string) =>
  Effect.orDie(reading(path, (database) => ({ problems: faultsOf(database), counts: countsOf(database) ?? null })))

/** The instance of a database file; nothing when there is none, or none that can be read. */
export const instanceAt = (path: string): Effect.Effect<Option.Option<string>> =>
  reading(path, (database) => database.prepare<[], { readonly id: string }>("SELECT id FROM instance").get()?.id).pipe(
    Effect.map(Option.fromNullable),
    Effect.orElseSucceed(() => Option.none())
  )

/** Moves the write-ahead log into the database, so that the file alone is all of it, where that can be done. */
export const settleLog = (path: string): Effect.Effect<void> =>
  Effect.ignore(using(path, {}, (database) => database.pragma("wal_checkpoint(TRUNCATE)")))

/** The write-ahead log beside a database file. */
export const logOf = (path: string): string => `${path}-wal`

/** The files that SQLite keeps beside a database file. */
export const filesBeside = (path: string): ReadonlyArray<string> => [logOf(path), `${path}-shm`, `${path}-journal`]
