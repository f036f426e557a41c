import Sqlite from "better-sqlite3"
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { basename, dirname, join } from "node:path"
import { parentPort } from "node:worker_threads"
import { holdsAny } from "./Remnants.js"

/** What a thread is asked to erase. */
export interface ErasureRequest {
  readonly path: string
  /** A descriptor of the database file. To open and close one here would end the locks that this process holds on it. */
  readonly file: number
  /** The wrapped data keys to look for; null when they are not known any more, so that all must be written again. */
  readonly needles: ReadonlyArray<Uint8Array> | null
}

/** What a thread has done. */
export interface ErasureReport {
  /** Whether nothing is left. Otherwise another connection still reads pages of before. */
  readonly done: boolean
  readonly rewritten: boolean
  /** Copies from before a migration that versions were erased in too. */
  readonly copies: ReadonlyArray<string>
}

const attempts = 40
const pauseMillis = 50

const pause = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMillis)
}

/**
 * Moves the write-ahead log into the database file and empties it. False when another connection reads from it for long. It
 * never waits inside of SQLite: that would keep writers out meanwhile.
 */
const emptyLog = (database: Sqlite.Database): boolean => {
  database.pragma("busy_timeout = 0")
  for (let attempt = 0; attempt < attempts; attempt++) {
    database.pragma("wal_checkpoint(PASSIVE)")
    if (database.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0) return true
    pause()
  }
  return false
}

/** Writes every page again, from the rows alone. Other writers wait; readers do not. */
const rewrite = (database: Sqlite.Database): void => {
  database.pragma("busy_timeout = 5000")
  database.exec("VACUUM")
}

const destroyedSince = `destroyed_at IS NULL AND EXISTS (SELECT 1 FROM live.secret_versions v
  WHERE v.secret_id = secret_versions.secret_id AND v.version = secret_versions.version AND v.destroyed_at IS NOT NULL)`

const flush = (path: string): void => {
  const descriptor = openSync(path, "r")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/**
 * Erases what the database has destroyed in a copy of it, if that has any of it. The copy is replaced by one rename: it is whole
 * at every moment.
 */
const eraseInCopy = (path: string, copy: string): boolean => {
  const kept = new Sqlite(copy, { readonly: true, fileMustExist: true })
  kept.prepare("ATTACH ? AS live").run(path)
  const holdsSome = kept.prepare(`SELECT 1 FROM secret_versions WHERE ${destroyedSince} LIMIT 1`).all().length > 0
  kept.exec("DETACH live")
  const temporary = join(dirname(copy), `.${basename(copy)}.part`)
  rmSync(temporary, { force: true })
  if (holdsSome) {
    writeFileSync(temporary, "", { flag: "wx", mode: 0o600 })
    kept.prepare("VACUUM INTO ?").run(temporary)
  }
  kept.close()
  if (!holdsSome) return false

  const cleaned = new Sqlite(temporary, { fileMustExist: true })
  cleaned.pragma("journal_mode = MEMORY")
  cleaned.pragma("secure_delete = ON")
  cleaned.prepare("ATTACH ? AS live").run(path)
  // Schemas before 9 stored nonces in columns of their own.
  const hasNonces = cleaned
    .prepare("SELECT 1 FROM pragma_table_info('secret_versions', 'main') WHERE name = 'nonce'")
    .get()
  cleaned.exec(`UPDATE main.secret_versions SET wrapped_key = NULL, ciphertext = x'',
    ${hasNonces === undefined ? "" : "key_nonce = NULL, nonce = x'',"}
    destroyed_at = (SELECT v.destroyed_at FROM live.secret_versions v
      WHERE v.secret_id = secret_versions.secret_id AND v.version = secret_versions.version)
    WHERE ${destroyedSince}`)
  cleaned.exec("DETACH live")
  cleaned.exec("VACUUM")
  cleaned.close()
  flush(temporary)
  renameSync(temporary, copy)
  flush(dirname(copy))
  return true
}

const copiesOf = (path: string): ReadonlyArray<string> =>
  readdirSync(dirname(path))
    .filter((name) => name.startsWith(`${basename(path)}.before-`))
    .map((name) => join(dirname(path), name))

const erase = ({ file, needles, path }: ErasureRequest): ErasureReport => {
  const database = new Sqlite(path, { fileMustExist: true })
  database.pragma("synchronous = FULL")
  database.pragma("secure_delete = ON")
  database.pragma("trusted_schema = OFF")
  database.pragma("cell_size_check = ON")
  // A database may be larger than what a process may hold in memory.
  database.pragma("temp_store = FILE")
  const emptied = emptyLog(database)
  const rewritten = emptied && (needles === null || holdsAny(file, needles))
  if (rewritten) rewrite(database)
  const done = rewritten ? emptyLog(database) && !holdsAny(file, needles ?? []) : emptied
  database.close()
  const copies = done ? copiesOf(path).filter((copy) => eraseInCopy(path, copy)) : []
  return { done, rewritten, copies }
}

// On Linux, 0 is this thread and not the whole process: a request goes before an erasure.
if (process.platform === "linux") setPriority(0, 10)

parentPort?.once("message", (request: ErasureRequest) => {
  parentPort?.postMessage(erase(request))
})
