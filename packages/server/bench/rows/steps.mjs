import { ask, counted, settle, startCoffer } from "../support/coffer.mjs"
import { readsOf, writesOf } from "../support/requests.mjs"

const one = (server, { body, method = "GET", path, ...rest }) =>
  ask(server, method, path, { ...rest, ...(body !== undefined && { body: JSON.parse(body) }) })

const row = {
  name: "steps",
  quick: true,
  run: async (context) => {
    const server = await startCoffer(context.folder("steps"), { run: counted })
    const scene = await settle(server)
    const times = (request) => Array.from({ length: 16 }, () => request)
    const inTurn = async (requests) => {
      for (const request of requests) await one(server, request)
    }
    const atOnce = (requests) => Promise.all(requests.map((request) => one(server, request)))
    const reads = readsOf(scene).slice(0, 16)
    const writes = writesOf(scene).slice(0, 16)
    const steps = async (what, requests, target, run = inTurn) => {
      // Once before, so that all statements are prepared.
      await run(requests)
      const found = await server.stepsOf(() => run(requests))
      // The commits that reads make are those of audit entries, as many as time allows.
      const commits = what.includes("write") ? found.commits / requests.length : 0
      const each = found.requests / requests.length + commits
      return {
        row: `fiber steps: ${what}`,
        against: "",
        measured: commits === 0 ? "" : `${commits.toFixed(0)} of them by the group commit`,
        base: "",
        ratio: each,
        // Of requests at once, time decides how many share a commit.
        ...(run === inTurn && { steps: each }),
        target,
        atLeast: false
      }
    }
    const results = [
      await steps("/health", times({ path: "/health" }), 70),
      await steps("secret read", reads, 130),
      await steps("secret write", writes, 480),
      await steps("secret write, 16 at once", writes, 350, atOnce),
      await steps("bundle of 100", times({ path: `${scene.env}/bundle`, key: scene.key }), 250)
    ]
    await server.stop()
    return results
  }
}

export const rows = [row]
