import { ask, settle, startCoffer } from "../support/coffer.mjs"
import { countWaves, youngGeneration } from "../support/counts.mjs"
import { startMeter } from "../support/meter.mjs"
import { connected } from "../support/postgres.mjs"
import { readsOf, writesOf } from "../support/requests.mjs"
import { shared } from "./postgres.mjs"

const requested = ({ body, method = "GET", path, ...rest }, server) =>
  ask(server, method, path, { ...rest, ...(body !== undefined && { body: JSON.parse(body) }) })

/** The end of PostgreSQL's write-ahead log, in bytes. */
const endOfLog = (url) =>
  connected(url, async (client) => {
    const { rows } = await client.query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes")
    return Number(rows[0].bytes)
  })

const row = {
  name: "postgres-trips",
  // They depend on the program alone, not on the machine. A test holds them.
  quick: false,
  run: async (context) => {
    const { postgres } = await shared(context)
    const meter = await startMeter(postgres.port)
    const url = await postgres.database("trips")
    const server = await startCoffer(context.folder("postgres-trips"), {
      databaseUrl: meter.behind(url),
      nodeArgs: youngGeneration
    })
    const scene = await settle(server)
    const sum = (field) => {
      const { inside, outside } = meter.counts()
      return inside[field] + outside[field]
    }
    /** The least statements and round trips of a request: jobs, and the entries of earlier reads, only add to them. */
    const countEach = async (requests) => {
      for (const request of requests) await requested(request, server)
      const found = { statements: [], trips: [] }
      for (const request of requests) {
        const before = { statements: sum("statements"), trips: sum("trips") }
        await requested(request, server)
        for (const field of Object.keys(found)) found[field].push(sum(field) - before[field])
      }
      return { statements: Math.min(...found.statements), trips: Math.min(...found.trips) }
    }
    const watch = async () => {
      const before = { commits: meter.counts().inside.commits, bytes: await endOfLog(url) }
      return {
        stop: async () => ({
          commits: meter.counts().inside.commits - before.commits,
          walBytes: (await endOfLog(url)) - before.bytes
        })
      }
    }
    const counted = async (kind, requests, target) => {
      const found = { ...(await countEach(requests)), ...(await countWaves(server, scene, requests, watch)) }
      return {
        row: `PostgreSQL: round trips of a ${kind}`,
        against: "",
        measured: `${found.statements} statements, ${found.commits.toFixed(3)} commits, ${(found.walBytes / 1000).toFixed(1)} KB of log, ${found.allocated.toFixed(0)} KB allocated`,
        base: "",
        ratio: found.trips,
        kind: `PostgreSQL: ${kind}`,
        counted: found,
        target,
        atLeast: false
      }
    }
    // A page's first change after a checkpoint writes the whole page.
    await connected(url, (client) => client.query("CHECKPOINT"))
    const results = [await counted("read", readsOf(scene), 2), await counted("write", writesOf(scene), 4)]
    await server.stop()
    meter.stop()
    return results
  }
}

export const rows = [row]
