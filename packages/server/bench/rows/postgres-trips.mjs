import { ask, settle, startCoffer } from "../support/coffer.mjs"
import { startMeter } from "../support/meter.mjs"
import { readsOf, writesOf } from "../support/requests.mjs"
import { shared } from "./postgres.mjs"

/** A figure without a reference. */
const plain = (row, ratio, measured, target) => ({
  row,
  against: "",
  measured,
  base: "",
  ratio,
  target,
  atLeast: false
})

const requested = async (server, requests) => {
  for (const { body, method = "GET", path, ...rest } of requests) {
    await ask(server, method, path, { ...rest, ...(body !== undefined && { body: JSON.parse(body) }) })
  }
}

const row = {
  name: "postgres-trips",
  // They depend on the program alone, not on the machine.
  quick: false,
  run: async (context) => {
    const { postgres } = await shared(context)
    const meter = await startMeter(postgres.port)
    const server = await startCoffer(context.folder("postgres-trips"), {
      databaseUrl: meter.behind(await postgres.database("trips"))
    })
    const scene = await settle(server)
    /** Counts the statements and round trips per request, after one of each kind, when its statements are prepared. */
    const countOf = async (requests) => {
      await requested(server, requests)
      const before = meter.counts()
      await requested(server, requests)
      const after = meter.counts()
      const each = (where, what) => (after[where][what] - before[where][what]) / requests.length
      return {
        outside: { statements: each("outside", "statements"), trips: each("outside", "trips") },
        inside: { statements: each("inside", "statements"), trips: each("inside", "trips") }
      }
    }
    const read = await countOf(readsOf(scene))
    const write = await countOf(writesOf(scene))
    await server.stop()
    meter.stop()
    const sum = (field) => write.outside[field] + write.inside[field]
    const perRead = `${read.outside.statements.toFixed(1)} statements; its audit entry, later and together with others, ${read.inside.trips.toFixed(1)}`
    return [
      plain("PostgreSQL: round trips of a read", read.outside.trips, perRead, 2),
      plain(
        "PostgreSQL: statements of a write",
        sum("statements"),
        `in ${sum("trips").toFixed(1)} round trips`,
        undefined
      )
    ]
  }
}

export const rows = [row]
