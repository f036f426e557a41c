import { parentPort } from "node:worker_threads"
import { countsOf } from "./Faults.js"
import { openFile } from "./SqliteFile.js"

const [path = ""] = process.argv.slice(2)
const database = openFile(path, { readonly: true, fileMustExist: true })
parentPort?.postMessage(countsOf(database))
database.close()
