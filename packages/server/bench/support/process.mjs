import { once } from "node:events"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { ServerProcess } from "../../../client/dist/testing/ServerProcess.js"

/** How many units of time /proc counts a second. */
export const clockTicks = 100

/** `ServerProcess` kills what still runs when this process exits. */
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130))

/** Returns a free port. */
export const freePort = async () => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address()
  probe.close()
  return port
}

/** Starts a command. Its output goes to a file, so that this process does not spend time on reading it. */
export const start = (command, { cwd, env, logFile, messages = false }) => {
  const log = openSync(logFile, "w", 0o600)
  const stdio = ["ignore", log, log, ...(messages ? ["ipc"] : [])]
  const server = new ServerProcess(command, { cwd, env, stdio })
  closeSync(log)
  const { child } = server
  const readLog = () => readFileSync(logFile, "utf8")

  /** Waits until the log matches. */
  const said = async (pattern, seconds = 60) => {
    for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(5)) {
      const found = pattern.exec(readLog())
      if (found !== null) return found
      if (child.exitCode !== null) break
    }
    throw new Error(`${command[0]} did not say ${pattern}: ${readLog().slice(-2000)}`)
  }

  const statusField = (field) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) /
    1024

  return {
    child,
    readLog,
    said,
    /** Processor time used so far, in microseconds. */
    cpuMicros: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")
      return ((Number(fields[11]) + Number(fields[12])) / clockTicks) * 1e6
    },
    /** Resident memory, in MiB. */
    memory: () => statusField("VmRSS"),
    /** The number of open descriptors. */
    files: () => readdirSync(`/proc/${child.pid}/fd`).length,
    stop: (signal) => server.stop(signal)
  }
}
