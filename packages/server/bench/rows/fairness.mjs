import { setTimeout as sleep } from "node:timers/promises"
import { logIn, settleOrg, startCoffer } from "../support/coffer.mjs"
import { percentile } from "../support/load.mjs"
import { shared } from "./postgres.mjs"

/** The longest that another organization may wait for a response, in milliseconds. */
const target = 250

const keys = 2_000
const diffs = 5

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
  const small = await settleOrg(server, await logIn(server, "bob@example.com"), { org: "small", secrets: 20 })
  const base = large.env.slice(0, large.env.lastIndexOf("/"))
  for (const env of ["staging", "dev", "prod"]) {
    await send(server, "PATCH", `${base}/${env}/bundle`, { token, body: bulkOf(0) })
  }
  return { base, token, small }
}

const measure = async (server, { base, small, token }, seconds, isLoaded) => {
  const end = performance.now() + seconds * 1000
  const isOver = () => performance.now() > end
  const own = { token: small.owner }
  const secret = (index) => `${small.env}/secrets/${small.keys[index % small.keys.length]}`
  const bodies = [bulkOf(1), bulkOf(2)]
  const [reads, writes, bulks, compared] = await Promise.all([
    repeat(isOver, (index) => send(server, "GET", secret(index), own), 5),
    repeat(isOver, (index) => send(server, "PUT", secret(index), { ...own, body: `{"value":"${index}"}` }), 5),
    isLoaded
      ? repeat(isOver, (index) => send(server, "PATCH", `${base}/dev/bundle`, { token, body: bodies[index % 2] }))
      : [],
    isLoaded
      ? Promise.all(
          Array.from({ length: diffs }, () =>
            repeat(isOver, () => send(server, "GET", `${base}/prod/diff?with=staging`, { token }))
          )
        ).then((lists) => lists.flat().sort((a, b) => a - b))
      : []
  ])
  return { reads, writes, bulks, compared }
}

const milliseconds = (times) =>
  `p50 ${percentile(times, 0.5).toFixed(0)}, p99 ${percentile(times, 0.99).toFixed(0)}, max ${(times.at(-1) ?? 0).toFixed(0)} ms of ${times.length}`

/** Measures how long requests of one organization wait beside the bulk of another one. */
export const fairnessOf = async (name, server, seconds) => {
  const scene = await prepare(server)
  await measure(server, scene, 1, false)
  const calm = await measure(server, scene, seconds / 2, false)
  const loaded = await measure(server, scene, seconds, true)
  const row = (what, kind, ratio) => ({
    row: `${name}: ${what} of another organization beside ${diffs} diffs and a bulk write of 2,000 keys, ms`,
    against: "",
    measured: milliseconds(loaded[kind]),
    base: `calm ${milliseconds(calm[kind])}`,
    ratio,
    target,
    atLeast: false
  })
  const figure = (what, kind) => ({
    row: `${name}: ${what} of the bulk organization meanwhile`,
    against: "",
    measured: milliseconds(loaded[kind]),
    base: "",
    ratio: percentile(loaded[kind], 0.5),
    target: undefined,
    atLeast: false
  })
  return [
    row("99th percentile of writes", "writes", percentile(loaded.writes, 0.99)),
    row("worst read", "reads", loaded.reads.at(-1) ?? 0),
    figure("median bulk write", "bulks"),
    figure("median diff", "compared")
  ]
}

const secondsOf = ({ quick }) => (quick ? 8 : 20)

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
