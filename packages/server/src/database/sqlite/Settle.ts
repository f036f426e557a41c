import { randomBytes } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"
import type Sqlite from "better-sqlite3"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { createRestores } from "./migrations/0005_backup_records.js"
import { openFile } from "./SqliteFile.js"

/** The first 16 bytes of every database (https://www.sqlite.org/fileformat.html, section 1.3). */
const sqliteHeader = Buffer.from("SQLite format 3\0")

export const SettleRequest = Schema.Struct({
  path: Schema.String,
  id: Schema.String,
  name: Schema.String,
  created_at: Schema.String,
  restored_at: Schema.String
})
type SettleRequest = typeof SettleRequest.Type

/** The head of an audit log at the time of the backup. */
interface Head {
  readonly log: string
  readonly seq: number
  readonly chain: string
}

const isDatabase = (path: string): boolean => {
  const header = Buffer.alloc(sqliteHeader.length)
  const file = openSync(path, "r")
  readSync(file, header, 0, header.length, 0)
  closeSync(file)
  return header.equals(sqliteHeader)
}

const settleOpen = (database: Sqlite.Database, { created_at, id, name, restored_at }: SettleRequest) => {
  const read = Either.try(() => ({
    marks: database.prepare<[], { readonly id: string; readonly name: string }>("SELECT id, name FROM backup").all(),
    heads: database.prepare<[], Head>("SELECT log, seq, chain FROM audit_heads ORDER BY log").all()
  }))
  if (Either.isLeft(read)) return null
  const { heads, marks } = read.right
  const [found] = marks
  if (marks.length !== 1 || found?.id !== id || found.name !== name) return null
  database.pragma("journal_mode = MEMORY")
  database.pragma("secure_delete = ON")
  database.exec("DROP TABLE backup")
  database.exec(createRestores)
  database
    .prepare("INSERT INTO restores (backup_id, backup_created_at, restored_at) VALUES (?, ?, ?)")
    .run(id, created_at, restored_at)
  database.prepare("UPDATE instance SET epoch = ?").run(randomBytes(8).toString("hex"))
  return heads
}

/**
 * Checks the snapshot's identity and removes that mark, records the restore, and sets a new epoch. Returns the heads of
 * its audit logs, or null if it is another snapshot. Blocks its thread, and throws the driver's errors.
 */
export const settle = (request: SettleRequest): ReadonlyArray<Head> | null => {
  if (!isDatabase(request.path)) return null
  const database = openFile(request.path, { fileMustExist: true })
  const settled = Either.try({ try: () => settleOpen(database, request), catch: (error) => error })
  database.close()
  return Either.getOrThrowWith(settled, (error) => error)
}
