import { setTimeout as sleep } from "node:timers/promises"
import { settle, startCoffer } from "../support/coffer.mjs"
import { median } from "../support/load.mjs"
import { startPostgres } from "../support/postgres.mjs"
import { readsOf, writesOf } from "../support/requests.mjs"

const clients = 16
const downMillis = 2_000
/** How long the load goes on after the first success. */
const restMillis = 1_000

/** Sends requests until it is stopped, and returns the time, duration and status of each answer. */
const startTraffic = (server, requests) => {
  const answers = []
  let isStopped = false
  const loops = Array.from({ length: clients }, async (_, client) => {
    for (let turn = client; !isStopped; turn++) {
      const { path, ...request } = requests[turn % requests.length]
      const begun = performance.now()
      const answer = await fetch(server.url + path, request)
      await answer.arrayBuffer()
      const at = performance.now()
      answers.push({ at, millis: at - begun, status: answer.status })
      // As a client does that heeds `Retry-After`, and not as fast as it can.
      if (answer.status !== 200) await sleep(50)
    }
  })
  return async () => {
    isStopped = true
    await Promise.all(loops)
    return answers
  }
}

/** Kills PostgreSQL under load and starts it again. Returns when the first success came, and the slowest answer. */
const crash = async (postgres, server, requests) => {
  const stop = startTraffic(server, requests)
  await sleep(1_000)
  const back = await postgres.crash(downMillis)
  while (performance.now() - back < 10_000) {
    await sleep(10)
    if (await fetch(`${server.url}${requests[0].path}`, requests[0]).then(({ status }) => status === 200)) break
  }
  await sleep(restMillis)
  const answers = await stop()
  const wrong = answers.find(({ status }) => status !== 200 && status !== 503)
  if (wrong !== undefined) throw new Error(`a request was answered with ${wrong.status} while PostgreSQL was killed`)
  // Before that, processes that outlive the killed one may still answer.
  const first = answers.find(({ at, status }) => status === 200 && at > back)
  if (first === undefined) throw new Error("no request succeeded after PostgreSQL was back")
  return {
    first: (first.at - back) / 1000,
    slowest: Math.max(...answers.map(({ millis }) => millis)) / 1000
  }
}

const seconds = (row, value) => ({
  row,
  against: "",
  measured: `${value.toFixed(2)} s`,
  base: "",
  ratio: value,
  target: 5,
  atLeast: false
})

const row = {
  name: "postgres-loss",
  quick: false,
  run: async (context) => {
    // A server of its own: the others are used by rows that would measure the recovery.
    const postgres = await startPostgres()
    try {
      const server = await startCoffer(context.folder("postgres-loss"), {
        databaseUrl: await postgres.database("loss")
      })
      const scene = await settle(server)
      const mixed = readsOf(scene).flatMap((read, index) => [read, writesOf(scene)[index]])
      const runs = []
      for (let round = 0; round < 5; round++) runs.push(await crash(postgres, server, mixed))
      await server.stop()
      return [
        seconds("PostgreSQL killed under load: first success after it is back", median(runs.map(({ first }) => first))),
        seconds("PostgreSQL killed under load: slowest answer", Math.max(...runs.map(({ slowest }) => slowest)))
      ]
    } finally {
      await postgres.stop()
    }
  }
}

export const rows = [row]
