import type Sqlite from "better-sqlite3"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { faultsOf } from "./Faults.js"
import { shrinkingTables } from "./ShrinkingTables.js"
import { openFile } from "./SqliteFile.js"

interface Count {
  readonly rows: number
}

const rowsOf = <Row extends object>(database: Sqlite.Database, statement: string): ReadonlyArray<Row> =>
  database.prepare<[], Row>(statement).all()

const countsOf = (database: Sqlite.Database): ReadonlyMap<string, number> =>
  new Map(
    rowsOf<{ readonly name: string }>(
      database,
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).map(({ name }) => [name, rowsOf<Count>(database, `SELECT count(*) AS rows FROM "${name}"`)[0]?.rows ?? 0])
  )

const problemsOf = (
  copy: Sqlite.Database,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>
): ReadonlyArray<string> => {
  const faults = faultsOf(copy)
  if (faults.length > 0) return faults
  const counts = countsOf(copy)
  const miscounted = [...before].filter(([table, rows]) => {
    const copied = counts.get(table)
    return copied === undefined || (!shrinkingTables.has(table) && (copied < rows || copied > (after.get(table) ?? 0)))
  })
  return miscounted.map(
    ([table, rows]) => `${table} has ${counts.get(table) ?? "no"} rows, but had ${rows} before the copy`
  )
}

/**
 * Copies a consistent snapshot of the database while others write, and returns the faults of the copy. Errors thrown
 * here reach the thread that started this one.
 */
const snapshot = (path: string, copyPath: string, id: string, name: string): ReadonlyArray<string> => {
  const source = openFile(path, { readonly: true, fileMustExist: true })
  const before = countsOf(source)
  source.prepare("VACUUM INTO ?").run(copyPath)
  const after = countsOf(source)
  source.close()

  const copy = openFile(copyPath, { fileMustExist: true })
  copy.pragma("journal_mode = MEMORY")
  copy.pragma("synchronous = OFF")
  copy.pragma("trusted_schema = OFF")
  copy.pragma("cell_size_check = ON")
  copy.exec("CREATE TABLE backup (id TEXT NOT NULL, name TEXT NOT NULL) STRICT")
  copy.prepare("INSERT INTO backup (id, name) VALUES (?, ?)").run(id, name)
  const problems = problemsOf(copy, before, after)
  copy.close()
  return problems
}

// On Linux, 0 means this thread, not the process: requests take priority over a copy.
if (process.platform === "linux") setPriority(0, 10)

const [path = "", copyPath = "", id = "", name = ""] = process.argv.slice(2)
parentPort?.postMessage(snapshot(path, copyPath, id, name))
