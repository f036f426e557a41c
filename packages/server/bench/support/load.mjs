import autocannon from "autocannon"

export const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

export const median = (values) =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5
  )

const complete = (requests) => requests.map((request) => ({ method: "GET", ...request }))

/**
 * Runs a load of the same requests from each connection; with `own`, each has one of these lists of requests. Returns requests per second, latencies in milliseconds, and the processor time of the server per request in
 * µs; also the database's, if that is another program.
 */
export const load = (server, { amount, connections = 16, own, rate, requests, seconds = 3 }) =>
  new Promise((resolve, reject) => {
    const latencies = []
    let failed = 0
    const before = server.cpuMicros()
    const databaseBefore = server.databaseMicros?.()
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
        const sorted = latencies.sort((a, b) => a - b)
        failed += result.errors + result.timeouts
        if (failed > 0) return reject(new Error(`${failed} of ${sorted.length} requests failed at ${server.url}`))
        resolve({
          rate: sorted.length / ((performance.now() - begun) / 1000),
          p50: percentile(sorted, 0.5),
          p99: percentile(sorted, 0.99),
          max: sorted.at(-1) ?? 0,
          cpu: (server.cpuMicros() - before) / sorted.length,
          ...(databaseBefore !== undefined && {
            databaseCpu: (server.databaseMicros() - databaseBefore) / sorted.length
          }),
          requests: sorted.length
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
 * Runs several loads alternately, after a warm-up. Returns the median and all rounds of each. Rounds are short, so that
 * noise, which comes and goes within seconds, affects all loads alike.
 */
export const interleave = async (targets, { rounds, seconds, warmUp }) => {
  for (const { server, ...options } of targets) await load(server, { ...options, seconds: warmUp })
  const results = targets.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, { server, ...options }] of targets.entries()) {
      results[index].push(await load(server, { ...options, seconds }))
    }
  }
  return results.map((rounds) => ({
    ...Object.fromEntries(Object.keys(rounds[0]).map((field) => [field, median(rounds.map((round) => round[field]))])),
    rounds
  }))
}

/** Returns the median of the ratios of two alternating loads, round by round. */
export const ratioOf = (ours, theirs, field = "rate") =>
  median(ours.rounds.map((round, index) => round[field] / theirs.rounds[index][field]))
