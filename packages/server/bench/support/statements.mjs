/** Loaded into the measured server: adds up the processor time of the statements that append audit entries and index them. */
import Sqlite from "better-sqlite3"

const database = new Sqlite(":memory:")
const statement = Object.getPrototypeOf(database.prepare("SELECT 1"))
const appends = /\baudit_(?!actors\b|totals\b)|^(BEGIN|COMMIT|SAVEPOINT|RELEASE)\b/
let micros = 0
let count = 0

for (const name of ["run", "all", "get"]) {
  const run = statement[name]
  statement[name] = function (...values) {
    if (!appends.test(this.source)) return run.apply(this, values)
    const before = process.cpuUsage()
    try {
      return run.apply(this, values)
    } finally {
      const { system, user } = process.cpuUsage(before)
      micros += system + user
      count++
    }
  }
}

if (process.send !== undefined) {
  process.on("message", (name) => {
    if (name === "statements") process.send({ micros, count })
  })
}
