import Sqlite from "better-sqlite3"
import { workerData } from "node:worker_threads"

const database = new Sqlite(String(workerData), { fileMustExist: true })
database.pragma("busy_timeout = 0")
// It waits for no reader and no writer, and none waits for it.
database.pragma("wal_checkpoint(PASSIVE)")
database.close()
