import { cpSync } from "node:fs"
import { settle, startCoffer } from "../support/coffer.mjs"
import { addPeople } from "../support/data.mjs"
import { fill } from "../support/stores.mjs"
import { interleave, ratioOf } from "../support/load.mjs"
import { readsOf } from "../support/requests.mjs"

const row = {
  name: "rules",
  quick: true,
  run: async (context) => {
    const one = context.folder("rules-one")
    const many = context.folder("rules-many")
    const first = await startCoffer(one)
    const scene = await settle(first)
    await first.stop()
    cpSync(one, many, { recursive: true })
    await fill(many, (store) => addPeople(store, scene.org, { members: 1_000, projects: 1_000, rules: 10_000 }))
    const servers = [await startCoffer(many), await startCoffer(one)]
    const requests = readsOf(scene)
    const [large, small] = await interleave(
      servers.map((server) => ({ server, requests })),
      context.pace
    )
    for (const server of servers) await server.stop()
    return [
      {
        row: "processor time of a read beside 10,000 rules, 1,000 members, 1,000 projects",
        against: "one of each",
        measured: `${large.cpu.toFixed(0)} µs`,
        base: `${small.cpu.toFixed(0)} µs`,
        ratio: ratioOf(large, small, "cpu"),
        target: 1.2,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
