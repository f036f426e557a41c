/**
 * Loaded into a server whose stalls are measured. At SIGUSR2 it prints what a fixed piece of work takes in this process at
 * the moment, and begins to measure; at SIGURG it prints the longest turn of the event loop since then. At SIGHUP, whatever
 * sleeps for a minute or longer wakes up.
 *
 * A turn is measured in processor time of the main thread where the system tells it (Linux), because other programs on the
 * machine lengthen the wall time of a turn and not what the server computes in it.
 */
import { openSync, readSync, writeSync } from "node:fs"
import { isMainThread } from "node:worker_threads"

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

if (isMainThread) {
  rememberSleepers()
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
  })

  process.on("SIGURG", () => {
    look()
    writeSync(2, `${JSON.stringify({ longest })}\n`)
  })
}
