import { setTimeout as sleep } from "node:timers/promises"
import { settle, startCoffer } from "../support/coffer.mjs"
import { load } from "../support/load.mjs"
import { readsOf } from "../support/requests.mjs"

const memory = (row, mebibytes, target) => ({
  row: `resident memory, ${row}`,
  against: "",
  measured: `${mebibytes.toFixed(1)} MiB`,
  base: "",
  ratio: mebibytes,
  target,
  atLeast: false
})

const row = {
  name: "memory",
  quick: false,
  run: async ({ folder }) => {
    const files = folder("memory")
    const first = await startCoffer(files)
    const scene = await settle(first)
    await first.stop()
    const server = await startCoffer(files)
    await sleep(3000)
    const idle = server.memory()
    const requests = readsOf(scene)
    await load(server, { requests, amount: 100_000 })
    await sleep(1000)
    const half = await server.settledMemory()
    await load(server, { requests, amount: 100_000 })
    await sleep(1000)
    const after = server.memory()
    const growth = (await server.settledMemory()).resident - half.resident
    await server.stop()
    return [
      memory("idle", idle, 120),
      memory("after 200,000 requests", after, 220),
      memory("growth in the last 100,000, garbage collected", growth, 5)
    ]
  }
}

export const rows = [row]
