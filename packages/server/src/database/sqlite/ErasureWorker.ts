import type Sqlite from "better-sqlite3"
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { basename, dirname, join } from "node:path"
import { parentPort } from "node:worker_threads"
import { earlierCopies } from "./EarlierCopies.js"
import { holdsAny } from "./Remnants.js"
import { openFile } from "./SqliteFile.js"

/** A request to the erasure thread. */
export interface ErasureRequest {
  readonly path: string
  /** A descriptor of the database file. Closing a second one would release the process's POSIX locks on the file. */
  readonly file: number
  /** The wrapped data keys to search for; null if they are unknown, so that the whole file must be rewritten. */
  readonly needles: ReadonlyArray<Uint8Array> | null
}

/** The result of an erasure. */
export interface ErasureReport {
  /** Whether everything is erased. False while another connection reads a snapshot from before the destruction. */
  readonly done: boolean
  readonly rewritten: boolean
  /** The copies from before a migration in which versions were erased. */
  readonly copies: ReadonlyArray<string>
}

const attempts = 40
const pauseMillis = 50

const pause = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMillis)
}

/**
 * Moves the write-ahead log into the database file and truncates it. Returns false if another connection keeps reading
 * from it. The retries pause outside SQLite: a busy timeout would block writers meanwhile.
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

/** Rebuilds every page from its rows. Writers wait meanwhile; readers do not. */
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
 * Erases the destroyed versions in a copy of the database, and returns whether the copy had any. One rename replaces
 * the copy, so a crash never leaves it incomplete.
 */
const eraseInCopy = (path: string, copy: string): boolean => {
  const kept = openFile(copy, { readonly: true, fileMustExist: true })
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

  const cleaned = openFile(temporary, { fileMustExist: true })
  cleaned.pragma("journal_mode = MEMORY")
  cleaned.pragma("secure_delete = ON")
  cleaned.prepare("ATTACH ? AS live").run(path)
  // Schemas before 9 stored nonces in separate columns.
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

const erase = ({ file, needles, path }: ErasureRequest): ErasureReport => {
  const database = openFile(path, { fileMustExist: true })
  database.pragma("synchronous = FULL")
  database.pragma("secure_delete = ON")
  database.pragma("trusted_schema = OFF")
  database.pragma("cell_size_check = ON")
  // A large database does not fit in memory.
  database.pragma("temp_store = FILE")
  const emptied = emptyLog(database)
  const rewritten = emptied && (needles === null || holdsAny(file, needles))
  if (rewritten) rewrite(database)
  const done = rewritten ? emptyLog(database) && !holdsAny(file, needles ?? []) : emptied
  database.close()
  const copies = done ? earlierCopies(path).filter((copy) => eraseInCopy(path, copy)) : []
  return { done, rewritten, copies }
}

// On Linux, 0 means this thread, not the process: requests take priority over an erasure.
if (process.platform === "linux") setPriority(0, 10)

parentPort?.once("message", (request: ErasureRequest) => {
  parentPort?.postMessage(erase(request))
})
