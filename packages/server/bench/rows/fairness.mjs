import { setTimeout as sleep } from "node:timers/promises"
import { logIn, settleOrg, startCoffer } from "../support/coffer.mjs"
import { percentile } from "../support/load.mjs"
import { shared } from "./postgres.mjs"

/** The longest that another organization may wait for a response, in milliseconds. */
const target = 250

const keys = 2_000

const send = async (server, method, path, { body, token }) => {
  const begun = performance.now()
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    body
  })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return performance.now() - begun
}

/** Repeats a request until `isOver`. Returns how long each took. */
const repeat = async (isOver, request, pauseMillis = 0) => {
  const times = []
  while (!isOver()) {
    times.push(await request(times.length))
    if (pauseMillis > 0) await sleep(pauseMillis)
  }
  return times.sort((a, b) => a - b)
}

const bulkOf = (round) =>
  JSON.stringify({
    set: Object.fromEntries(
      Array.from({ length: keys }, (_, index) => [`KEY_${index}`, `${round} of ${index} `.padEnd(128, "x")])
    )
  })

/** One organization compares large environments and writes one of them; the other one reads and writes single secrets. */
const prepare = async (server) => {
  const token = await logIn(server, "ada@example.com")
  const large = await settleOrg(server, token, { org: "large", secrets: 1 })
  const small = await settleOrg(server, await logIn(server, "bob@example.com"), { org: "small", secrets: 250 })
  const base = large.env.slice(0, large.env.lastIndexOf("/"))
  for (const env of ["staging", "dev", "prod"]) {
    await send(server, "PATCH", `${base}/${env}/bundle`, { token, body: bulkOf(0) })
  }
  return { base, token, small }
}

/** Measures requests of the small organization beside those of the large one. */
const measure = async (server, { base, small, token }, seconds, { bulks = 0, diffs = 0 } = {}) => {
  const end = performance.now() + seconds * 1000
  const isOver = () => performance.now() > end
  const own = { token: small.owner }
  const secret = (index) => `${small.env}/secrets/${small.keys[index % small.keys.length]}`
  const bodies = [bulkOf(1), bulkOf(2)]
  const many = (count, request) => Promise.all(Array.from({ length: count }, () => repeat(isOver, request)))
  const [reads, writes, lists] = await Promise.all([
    repeat(isOver, (index) => send(server, "GET", secret(index), own), 5),
    repeat(isOver, (index) => send(server, "PUT", secret(index), { ...own, body: `{"value":"${index}"}` }), 5),
    repeat(isOver, () => send(server, "GET", `${small.env}/secrets`, own), 20),
    many(bulks, (index) => send(server, "PATCH", `${base}/dev/bundle`, { token, body: bodies[index % 2] })),
    many(diffs, () => send(server, "GET", `${base}/prod/diff?with=staging`, { token }))
  ])
  return { reads, writes, lists }
}

const milliseconds = (times) =>
  `p50 ${percentile(times, 0.5).toFixed(0)}, p99 ${percentile(times, 0.99).toFixed(0)}, max ${(times.at(-1) ?? 0).toFixed(0)} ms of ${times.length}`

const loads = [
  { name: "5 diffs and a bulk write of 2,000 keys", load: { diffs: 5, bulks: 1 } },
  { name: "24 diffs", load: { diffs: 24 } }
]

/** Measures how long requests of one organization wait beside the bulk of another one. */
export const fairnessOf = async (engine, server, seconds) => {
  const scene = await prepare(server)
  await measure(server, scene, 1)
  const calm = await measure(server, scene, seconds / 2)
  const results = []
  for (const { load, name } of loads) {
    const loaded = await measure(server, scene, seconds, load)
    const row = (what, kind, share) => {
      const ratio = percentile(loaded[kind], share)
      return {
        row: `${engine}: ${what} of another organization, milliseconds`,
        against: `beside ${name}`,
        measured: milliseconds(loaded[kind]),
        base: `calm ${milliseconds(calm[kind])}`,
        ratio,
        target,
        atLeast: false,
        // --quick has too few bulk writes for a percentile.
        watched: kind !== "writes"
      }
    }
    results.push(
      row("99th percentile of writes", "writes", 0.99),
      row("worst read", "reads", 1),
      row("99th percentile of lists of 250 secrets", "lists", 0.99)
    )
  }
  return results
}

const secondsOf = ({ quick }) => (quick ? 4 : 20)

const sqliteRow = {
  name: "fairness",
  quick: true,
  run: async (context) => {
    const server = await startCoffer(context.folder("fairness"))
    const results = await fairnessOf("SQLite", server, secondsOf(context))
    await server.stop()
    return results
  }
}

const postgresRow = {
  name: "postgres-fairness",
  run: async (context) => {
    const { postgres } = await shared(context)
    const server = await startCoffer(context.folder("postgres-fairness"), {
      databaseUrl: await postgres.database("fairness")
    })
    const results = await fairnessOf("PostgreSQL", server, secondsOf(context))
    await server.stop()
    return results
  }
}

export const rows = [sqliteRow, postgresRow]
