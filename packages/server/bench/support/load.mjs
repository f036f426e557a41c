import autocannon from "autocannon"
import { setTimeout as sleep } from "node:timers/promises"
import { watchLog } from "./wal.mjs"

export const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

export const median = (values) =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5
  )

const complete = (requests) => requests.map((request) => ({ method: "GET", ...request }))

/**
 * Runs a load of the same requests from each connection; with `own`, each has one of these lists of requests. Returns requests per
 * second, and latencies in milliseconds.
 */
export const load = (server, { amount, connections = 16, own, rate, requests, seconds = 3 }) =>
  new Promise((resolve, reject) => {
    const latencies = []
    let failed = 0
    let client = 0
    const instance = autocannon(
      {
        url: server.url,
        connections,
        // How often autocannon checks its duration, in milliseconds.
        sampleInt: 100,
        ...(amount === undefined ? { duration: seconds } : { amount }),
        ...(rate !== undefined && { overallRate: rate }),
        ...(own === undefined
          ? { requests: complete(requests) }
          : { setupClient: (each) => each.setRequests(complete(own[client++ % own.length])) })
      },
      (error, result) => {
        if (error) return reject(error)
        const seconds = (performance.now() - begun) / 1000
        const sorted = latencies.sort((a, b) => a - b)
        failed += result.errors + result.timeouts
        if (failed > 0) return reject(new Error(`${failed} of ${sorted.length} requests failed at ${server.url}`))
        resolve({
          rate: sorted.length / seconds,
          p50: percentile(sorted, 0.5),
          p99: percentile(sorted, 0.99),
          max: sorted.at(-1) ?? 0,
          requests: sorted.length,
          seconds
        })
      }
    )
    let begun = performance.now()
    instance.once("start", () => (begun = performance.now()))
    instance.on("response", (_client, status, _bytes, time) => {
      latencies.push(time)
      if (status >= 400) failed++
    })
  })

/**
 * Runs a load, and waits until the server has done what it put off, such as audit entries and their index. That work is charged to
 * the turn: the processor time per request in µs, of all threads; the database's, if that is another program; and the commits
 * and bytes of the write-ahead log of a SQLite database.
 */
const turn = async ({ server, ...options }, drain) => {
  const log = server.database === undefined ? undefined : watchLog(server.database)
  const before = server.cpuMicros()
  const databaseBefore = server.databaseMicros?.()
  try {
    const loaded = await load(server, options)
    const commits = log?.counts().commits
    await sleep(drain * 1000)
    return {
      ...loaded,
      cpu: (server.cpuMicros() - before) / loaded.requests,
      ...(databaseBefore !== undefined && {
        databaseCpu: (server.databaseMicros() - databaseBefore) / loaded.requests
      }),
      ...(log !== undefined && {
        commits: commits / loaded.seconds,
        walBytes: log.counts().walBytes / loaded.requests
      })
    }
  } finally {
    log?.stop()
  }
}

/**
 * Runs turns of several loads alternately, after a warm-up. Returns the median and all rounds of each. Each turn is sustained: a
 * short one leaves much of its work to the next, which is another server's.
 */
export const interleave = async (targets, { drain, rounds, seconds, warmUp }) => {
  for (const { server, ...options } of targets) await load(server, { ...options, seconds: warmUp })
  await sleep(drain * 1000)
  const results = targets.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, target] of targets.entries()) {
      results[index].push(await turn({ ...target, seconds }, drain))
    }
  }
  return results.map((rounds) => ({
    ...Object.fromEntries(Object.keys(rounds[0]).map((field) => [field, median(rounds.map((round) => round[field]))])),
    rounds
  }))
}

/** Returns the median of the ratios of two alternating loads, round by round: of their processor times, or another field. */
export const ratioOf = (ours, theirs, field = "cpu") =>
  median(ours.rounds.map((round, index) => round[field] / theirs.rounds[index][field]))
