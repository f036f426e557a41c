/**
 * Loaded into a server whose stalls are measured. At SIGUSR2 it prints what a fixed piece of work takes in this process at
 * the moment, and begins to measure; at SIGURG it prints the longest turn of the event loop since then, and how many rows the
 * largest transaction changed. At SIGHUP, whatever sleeps for a minute or longer wakes up.
 *
 * A turn is measured in processor time of the main thread where the system tells it (Linux), because other programs on the
 * machine lengthen the wall time of a turn and not what the server computes in it.
 */
import { openSync, readSync, writeSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import Sqlite from "better-sqlite3"

const threadTime = () => {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r")
    const bytes = Buffer.alloc(64)
    return () => Number.parseInt(bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0))) / 1e6
  } catch {
    return () => performance.now()
  }
}

/** A little of everything that requests are made of, for some milliseconds. */
const work = () => {
  let sum = 0
  for (let round = 0; round < 40; round++) {
    const object = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`KEY_${index}`, `value ${index}`]))
    for (const [key, value] of Object.entries(JSON.parse(JSON.stringify(object)))) sum += key.length + value.length
  }
  return sum
}

/** Timers of a minute or longer, and what they do. */
const sleepers = new Map()

const rememberSleepers = () => {
  const { clearTimeout, setTimeout } = globalThis
  globalThis.setTimeout = (work, millis, ...rest) => {
    if (!(millis >= 60_000)) return setTimeout(work, millis, ...rest)
    const wake = () => {
      clearTimeout(timer)
      sleepers.delete(timer)
      work(...rest)
    }
    const timer = setTimeout(wake, millis)
    sleepers.set(timer, wake)
    return timer
  }
  globalThis.clearTimeout = (timer) => {
    sleepers.delete(timer)
    clearTimeout(timer)
  }
  process.on("SIGHUP", () => {
    for (const wake of [...sleepers.values()]) wake()
  })
}

/** The rows that the largest transaction changed: of calls, and of the search index of the audit logs, which follows them. */
const largest = { rows: 0, index: 0 }

/** Of the open transaction. */
let open = { rows: 0, isIndex: false }

/** Counts the rows that a statement changes, cascades included. */
const counting = (statement, text, total) => {
  const ends = /^\s*(?:COMMIT|ROLLBACK\s*$)/i.test(text)
  const begins = /^\s*BEGIN/i.test(text)
  const isIndex = /\baudit_(?:indexed|postings)\b/.test(text)
  const around =
    (run) =>
    (...values) => {
      if (begins) open = { rows: 0, isIndex: false }
      const before = total.get()
      const result = run.apply(statement, values)
      const rows = total.get() - before
      open.rows += rows
      open.isIndex ||= isIndex && rows > 0
      if (ends) {
        const kind = open.isIndex ? "index" : "rows"
        largest[kind] = Math.max(largest[kind], open.rows)
      }
      return result
    }
  return Object.assign(statement, { run: around(statement.run), all: around(statement.all) })
}

const countRows = () => {
  const { prepare } = Sqlite.prototype
  const totals = new WeakMap()
  Sqlite.prototype.prepare = function (text) {
    const statement = prepare.call(this, text)
    if (statement.readonly && !/^\s*(?:BEGIN|COMMIT|ROLLBACK)/i.test(text)) return statement
    const total = totals.get(this) ?? prepare.call(this, "SELECT total_changes()").pluck()
    totals.set(this, total)
    return counting(statement, text, total)
  }
}

if (isMainThread) {
  rememberSleepers()
  countRows()
  const cpu = threadTime()
  let before = { cpu: cpu(), wall: performance.now() }
  const longest = { cpu: 0, wall: 0 }
  const look = () => {
    const now = { cpu: cpu(), wall: performance.now() }
    longest.cpu = Math.max(longest.cpu, now.cpu - before.cpu)
    longest.wall = Math.max(longest.wall, now.wall - before.wall)
    before = now
  }
  // A timer that is due is called once in each turn.
  setInterval(look, 1).unref()

  process.on("SIGUSR2", () => {
    const begun = cpu()
    work()
    writeSync(2, `${JSON.stringify({ calibration: cpu() - begun })}\n`)
    before = { cpu: cpu(), wall: performance.now() }
    longest.cpu = 0
    longest.wall = 0
    largest.rows = 0
    largest.index = 0
  })

  process.on("SIGURG", () => {
    look()
    writeSync(2, `${JSON.stringify({ longest: { ...longest, ...largest } })}\n`)
  })
}
