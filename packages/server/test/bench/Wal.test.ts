import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { watchLog } from "../../bench/support/wal.mjs"

/** A page of 4 KiB with the header of its frame. */
const frame = 4_096 + 24

const withDatabase = (use: (database: Sqlite.Database, path: string) => void) => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-wal-"))
  const path = join(folder, "service.db")
  const database = new Sqlite(path)
  try {
    database.pragma("journal_mode = WAL")
    database.exec("CREATE TABLE t (a)")
    use(database, path)
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

describe("the watch of a write-ahead log", () => {
  it("counts commits, and the pages that they write", () => {
    withDatabase((database, path) => {
      const log = watchLog(path)
      for (let row = 0; row < 5; row++) database.prepare("INSERT INTO t VALUES (?)").run(row)
      database.exec("BEGIN; INSERT INTO t VALUES (6); INSERT INTO t VALUES (7); COMMIT")
      assert.deepStrictEqual(log.stop(), { commits: 6, walBytes: 6 * frame })
    })
  })

  it("counts no read and no rollback", () => {
    withDatabase((database, path) => {
      const log = watchLog(path)
      database.prepare("SELECT count(*) FROM t").get()
      database.exec("BEGIN; INSERT INTO t VALUES (1); ROLLBACK")
      assert.deepStrictEqual(log.stop(), { commits: 0, walBytes: 0 })
    })
  })

  it("counts on when the log begins again after a checkpoint", () => {
    withDatabase((database, path) => {
      const insert = database.prepare("INSERT INTO t VALUES (?)")
      insert.run(1)
      const log = watchLog(path)
      insert.run(2)
      log.counts()
      database.pragma("wal_checkpoint(PASSIVE)")
      insert.run(3)
      assert.deepStrictEqual(log.stop(), { commits: 2, walBytes: 2 * frame })
    })
  })
})
