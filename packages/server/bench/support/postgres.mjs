import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { clockTicks } from "./process.mjs"
import { importTypeScript } from "./typescript.mjs"

/** PostgreSQL's own defaults of durability: every commit is on disk before its answer. */
const settings = { shared_buffers: "512MB", max_wal_size: "4GB", maintenance_work_mem: "512MB" }

const readOr = (path, otherwise) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // The process has ended.
    return otherwise
  }
}

/** The fields of /proc/PID/stat from `state` on. */
const statOf = (pid) =>
  readOr(`/proc/${pid}/stat`, "")
    .replace(/^.*\) /s, "")
    .split(" ")

/** The processor time of a running process with one thread, in microseconds. */
const runningMicros = (pid) => Number(readOr(`/proc/${pid}/schedstat`, "0").split(" ")[0]) / 1000

const childrenOf = (parent) =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name) && statOf(name)[1] === String(parent))

/** Runs statements on a connection of its own. */
export const connected = async (url, use) => {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => undefined)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** Waits until the server at a URL accepts connections. */
const untilItAccepts = async (url) => {
  for (;;) {
    try {
      return await connected(url, () => performance.now())
    } catch {
      await sleep(10)
    }
  }
}

/**
 * Starts PostgreSQL as the tests do, with its default durability. It inherits the load's core, so that the server has the other
 * one for itself.
 */
export const startPostgres = async () => {
  const tests = new URL("../../test/support/postgres/Cluster.ts", import.meta.url)
  const { Cluster, durable } = await importTypeScript(tests)
  const cluster = await Cluster.start({ ...durable, ...settings })
  const main = () => readFileSync(join(cluster.folder, "data/postmaster.pid"), "utf8").split("\n")[0]
  let databases = 0
  const server = await connected(`${cluster.url}/postgres`, async (client) => {
    const { rows } = await client.query("SHOW server_version")
    return rows[0].server_version.split(" ")[0]
  })
  return {
    version: server,
    port: cluster.port,
    folder: cluster.folder,
    /** Creates an empty database and returns its URL. */
    database: (name) =>
      connected(`${cluster.url}/postgres`, async (client) => {
        const unique = `${name}_${++databases}`
        await client.query(`CREATE DATABASE ${unique} TEMPLATE template0`)
        return `${cluster.url}/${unique}`
      }),
    /** Processor time of all of its processes so far, in microseconds; of ended ones too. */
    cpuMicros: () => {
      const pid = main()
      const fields = statOf(pid)
      const ended = ((Number(fields[13]) + Number(fields[14])) / clockTicks) * 1e6
      return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + runningMicros(each), ended)
    },
    /** Kills it as a crash does, and starts it again. Returns when it accepted connections, by `performance.now()`. */
    crash: async (downMillis) => {
      cluster.kill()
      // Ends the shell around it, too.
      await cluster.stop()
      await sleep(downMillis)
      const [accepted] = await Promise.all([untilItAccepts(`${cluster.url}/postgres`), cluster.run()])
      return accepted
    },
    size: (url) =>
      connected(url, async (client) => {
        const { rows } = await client.query("SELECT pg_database_size(current_database()) AS bytes")
        return Number(rows[0].bytes)
      }),
    stop: () => cluster.remove()
  }
}
