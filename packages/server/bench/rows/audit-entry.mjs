import Sqlite from "better-sqlite3"
import { statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { ask, settle, startCoffer } from "../support/coffer.mjs"

const statements = fileURLToPath(new URL("../support/statements.mjs", import.meta.url))
const reads = 6_000
const connections = 16

const row = {
  name: "audit-entry",
  run: async (context) => {
    const folder = context.folder("audit-entry")
    const server = await startCoffer(folder, { nodeArgs: ["--import", statements] })
    const { env, key, keys } = await settle(server)
    const file = join(folder, "service.db")
    /** Reads secrets, and waits until their entries are written and indexed, at most five seconds later. */
    const read = async (times) => {
      const one = async (first) => {
        for (let n = first; n < times; n += connections) {
          await ask(server, "GET", `${env}/secrets/${keys[n % keys.length]}`, { key })
        }
      }
      await Promise.all(Array.from({ length: connections }, (_, first) => one(first)))
      await sleep(7_000)
    }
    await read(500)
    // A reader keeps the log from being reused, so its size is what was written to it.
    const reader = new Sqlite(file, { readonly: true })
    reader.exec("BEGIN")
    const entries = () => reader.prepare("SELECT count(*) FROM audit_entries").pluck().get()
    const atFirst = entries()
    const figures = async () => ({ wal: statSync(`${file}-wal`).size, ...(await server.ask("statements")) })
    const before = await figures()
    await read(reads)
    const after = await figures()
    reader.exec("COMMIT")
    const added = entries() - atFirst
    reader.close()
    await server.stop()
    const each = (name) => (after[name] - before[name]) / added
    return [
      {
        row: "audit entry of a read: µs of SQL, KB of WAL",
        against: "",
        measured: `${each("micros").toFixed(1)} µs in ${each("count").toFixed(2)} statements, ${(each("wal") / 1000).toFixed(2)} KB`,
        base: "",
        ratio: each("wal") / 1000,
        target: undefined,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
