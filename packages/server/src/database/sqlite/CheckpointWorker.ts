import { workerData } from "node:worker_threads"
import { openFile } from "./SqliteFile.js"

const database = openFile(String(workerData), { fileMustExist: true })
database.pragma("busy_timeout = 0")
// A passive checkpoint neither waits for readers and writers nor blocks them.
database.pragma("wal_checkpoint(PASSIVE)")
database.close()
