import { cpSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { ask, counted, startCoffer } from "./coffer.mjs"
import { median } from "./load.mjs"
import { watchLog } from "./wal.mjs"

/** Requests at once: so few that their entries are written together, on a slow machine too. */
const atOnce = { measured: 4, warmUp: 16 }
const waves = { measured: 5, warmUp: 50 }
/** The median round counts: the index job, which runs every five seconds, may come in between. */
const rounds = 5
/** Milliseconds until the entries of a wave are written. */
const pauseMillis = 90
/** The young generation, in MiB. No collection runs in a round, so that what the heap grows by is what was allocated. */
export const youngGeneration = ["--min-semi-space-size=512", "--max-semi-space-size=1024"]

const send = async (server, { path, ...request }) => {
  const response = await fetch(server.url + path, request)
  await response.arrayBuffer()
  if (!response.ok && response.status !== 304) throw new Error(`${request.method ?? "GET"} ${path}: ${response.status}`)
}

/** Sends the next requests at once, one on each connection. */
const wave = (server, requests, size, number) =>
  Promise.all(
    Array.from({ length: size }, (_, index) => send(server, requests[(number * size + index) % requests.length]))
  )

/**
 * Lets the requests of a wave arrive at one moment: while they are sent, the server is suspended. Otherwise the speed of the machine
 * would decide how many of them share a commit.
 */
const waveAtOnce = async (server, ...requests) => {
  server.child.kill("SIGSTOP")
  const sent = wave(server, ...requests)
  await sleep(25)
  server.child.kill("SIGCONT")
  await sent
}

/** A search adds the entries to the index that it lacks, so that all entries of a round are in it at its end. */
const searchLog = (server, { org, owner }) =>
  ask(server, "GET", `/api/orgs/${org}/audit-logs?action=secret.read&limit=1`, { token: owner })

const medians = (all) =>
  Object.fromEntries(Object.keys(all[0]).map((name) => [name, median(all.map((each) => each[name]))]))

/** Counts the writes of the waves of one kind of request, by a watch of the database, and their allocations. */
export const countWaves = async (server, scene, requests, watch = () => watchLog(server.database)) => {
  for (let number = 0; number < waves.warmUp; number++) await wave(server, requests, atOnce.warmUp, number)
  const found = []
  while (found.length < rounds) {
    await sleep(pauseMillis)
    await searchLog(server, scene)
    const log = await watch()
    const before = await server.ask("heap")
    for (let number = 0; number < waves.measured; number++) {
      await waveAtOnce(server, requests, atOnce.measured, number)
      await sleep(pauseMillis)
    }
    const after = await server.ask("heap")
    await searchLog(server, scene)
    const { commits, walBytes } = await log.stop()
    const all = waves.measured * atOnce.measured
    // A collection came in between.
    if (after.collections !== before.collections) continue
    found.push({ commits: commits / all, walBytes: walBytes / all, allocated: (after.used - before.used) / 1000 / all })
  }
  return medians(found)
}

/** Counts the fiber steps and statements of requests, in turn or at once. Those of the group commit are a write's own. */
const countSteps = async (server, requests, isWrite, isAtOnce) => {
  const run = async () => {
    if (isAtOnce) return Promise.all(requests.map((request) => send(server, request)))
    for (const request of requests) await send(server, request)
  }
  // Once before, so that all statements are prepared.
  await run()
  const found = []
  for (let round = 0; round < rounds; round++) {
    const { statements, steps } = await server.countsOf(run)
    const each = (counts) => (counts.requests + (isWrite ? counts.commits : 0)) / requests.length
    found.push({
      steps: each(steps),
      statements: each(statements),
      ofCommits: isWrite ? steps.commits / requests.length : 0
    })
  }
  return medians(found)
}

/**
 * Starts two servers on copies of a folder: one whose fibers are counted, and one as it is built. `count` returns the figures of a
 * kind of request that no noise touches: fiber steps and statements, of requests in turn; and of waves that arrive at once, the
 * commits and bytes of the write-ahead log until they are in the search index, and the KB allocated until their entries are written.
 */
export const startCounting = async (folder, from, scene) => {
  const [ofFibers, ofWaves] = [folder("counts-fibers"), folder("counts-waves")]
  for (const copy of [ofFibers, ofWaves]) cpSync(from, copy, { recursive: true })
  const fibers = await startCoffer(ofFibers, { run: counted })
  const built = await startCoffer(ofWaves, { nodeArgs: youngGeneration })
  const some = (requests) => Array.from({ length: 16 }, (_, index) => requests[index % requests.length])
  return {
    count: async (requests, isWrite = false) => ({
      ...(await countSteps(fibers, some(requests), isWrite, false)),
      ...(await countWaves(built, scene, requests))
    }),
    /** The fiber steps of writes at once: time decides how many of them share a commit. */
    stepsAtOnce: (requests) => countSteps(fibers, some(requests), true, true),
    fibers,
    built
  }
}
