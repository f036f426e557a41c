import { setTimeout as sleep } from "node:timers/promises"
import { ask, startCoffer } from "../support/coffer.mjs"
import { load } from "../support/load.mjs"
import { startSink } from "../support/sink.mjs"
import { bulk } from "./startup.mjs"

/** The load of a team's programs: reads, and occasional bundles and writes. */
const mixed = ({ env, key, keys }) => {
  const headers = { "x-api-key": key }
  return keys.slice(0, 50).map((name, index) => {
    const path = `${env}/secrets/${name}`
    if (index % 10 === 9) return { path: `${env}/bundle`, headers }
    if (index % 10 !== 5) return { path, headers }
    return {
      method: "PUT",
      path,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ value: "written under load".padEnd(32, "x") })
    }
  })
}

const row = {
  name: "backup",
  quick: false,
  run: async (context) => {
    const { files, scene } = await context.share("bulk", bulk)
    const sink = await startSink()
    // All threads of the server, including the snapshot's, share one core. Load and store run on the other.
    const server = await startCoffer(files, { env: { SUPERADMIN_EMAIL_0: "ada@example.com", ...sink.env } })
    const traffic = { requests: mixed(scene), connections: 8, rate: 200 }
    await load(server, { ...traffic, seconds: 10 })
    await sleep(2000)
    const idle = server.memory()
    await server.longestStall()
    const calm = await load(server, { ...traffic, seconds: 20 })
    const calmStall = await server.longestStall()

    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, server.memory())), 50)
    let ended = false
    const backup = ask(server, "POST", "/api/backups", { token: scene.owner }).finally(() => (ended = true))
    const during = []
    const begun = performance.now()
    while (!ended) during.push(await load(server, { ...traffic, seconds: 5 }))
    const seconds = (performance.now() - begun) / 1000
    const { body } = await backup
    const busyStall = await server.longestStall()
    clearInterval(watch)
    await server.stop()
    sink.stop()
    if (sink.received() < body.size_bytes) throw new Error("the backup did not reach the store")

    const size = `${(body.size_bytes / 2 ** 20).toFixed(0)} MiB`
    const p99 = Math.max(...during.map((each) => each.p99))
    const ms = (time) => `${time.toFixed(1)} ms`
    return [
      {
        row: `backup of ${size}: peak of resident memory over idle`,
        against: "",
        measured: `${(peak - idle).toFixed(0)} MiB, in ${seconds.toFixed(0)} s`,
        base: "",
        ratio: peak - idle,
        target: 200,
        atLeast: false
      },
      {
        row: "99th percentile of mixed load, 200/s, during a backup",
        against: "without it",
        measured: ms(p99),
        base: ms(calm.p99),
        ratio: p99 / calm.p99,
        target: 3,
        atLeast: false
      },
      {
        row: "longest stall of the event loop during a backup",
        against: "without it",
        measured: ms(busyStall),
        base: ms(calmStall),
        ratio: busyStall / calmStall,
        target: 3,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
