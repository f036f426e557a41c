import Sqlite from "better-sqlite3"
import { parentPort } from "node:worker_threads"
import { countsOf } from "./Faults.js"

const [path = ""] = process.argv.slice(2)
const database = new Sqlite(path, { readonly: true, fileMustExist: true })
parentPort?.postMessage(countsOf(database))
database.close()
