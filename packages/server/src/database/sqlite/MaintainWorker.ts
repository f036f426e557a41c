import { workerData } from "node:worker_threads"
import { openFile } from "./SqliteFile.js"

/** 40 MiB. */
const enoughPages = 10_000

const database = openFile(String(workerData), { fileMustExist: true })
// Waiting here blocks no request. Writers wait for the analysis of one table at a time.
database.pragma("busy_timeout = 5000")
database.pragma("analysis_limit = 200")
const pages = database.prepare<[], number>("PRAGMA page_count").pluck().get() ?? 0
// Statistics of small tables mislead the planner once the tables have grown. Without statistics, plans are good.
if (pages >= enoughPages) {
  for (const statement of database.prepare<[], string>("PRAGMA optimize(-1)").pluck().all()) database.exec(statement)
} else if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").get() !== undefined) {
  // Earlier programs collected statistics at any size.
  database.exec("DELETE FROM sqlite_stat1")
}
// Leaves little for the TRUNCATE checkpoint that follows. Retries while another thread runs a checkpoint.
const isBusy = database.prepare<[], number>("PRAGMA wal_checkpoint(PASSIVE)").pluck()
const pause = new Int32Array(new SharedArrayBuffer(4))
for (let tries = 0; tries < 100 && isBusy.get() !== 0; tries++) Atomics.wait(pause, 0, 0, 50)
database.close()
