import { ask, settle, startCoffer } from "../support/coffer.mjs"
import { addAuditEntries } from "../support/audit-data.mjs"
import { fill } from "../support/stores.mjs"
import { median } from "../support/load.mjs"

const small = 1_000

export const env = { SUPERADMIN_EMAIL_0: "ada@example.com" }

/** Creates a server's folder with one organization that has this number of audit entries, and returns its contents. */
const logWith = async ({ folder }, entries) => {
  const files = folder(`audit-${entries}`)
  const server = await startCoffer(files, { env })
  const scene = await settle(server, { secrets: 100 })
  await server.stop()
  const begun = performance.now()
  await fill(files, (store) => addAuditEntries(store, scene.org, entries))
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  process.stderr.write(`${entries.toLocaleString("en")} audit entries: loaded in ${seconds} s\n`)
  return { files, scene }
}

/** The log of `--entries`, which is loaded once. */
export const largeLog = (context) => logWith(context, context.entries)

const serverOf = async ({ files, scene }) => ({ server: await startCoffer(files, { env }), scene })

const pages = {
  "first page": {},
  "deep page": { deep: true },
  "filtered by action": { action: "secret.read" },
  "filtered by a rare action": { action: "secret.delete" },
  "filtered by actor": { actor_id: "actor-7" },
  "filtered by resource type": { resource_type: "env" },
  "filtered by actor and action": { actor_id: "actor-7", action: "secret.read" },
  "filtered by actor and rare action": { actor_id: "actor-7", action: "secret.delete" },
  "filtered by two that never meet": { actor_id: "actor-8", action: "secret.delete" },
  "filtered by actor and rare type": { actor_id: "actor-9", resource_type: "env" },
  "filtered by action and rare type": { action: "secret.read", resource_type: "env" },
  "filtered by all three, none found": { actor_id: "actor-8", action: "secret.read", resource_type: "env" },
  "filtered by actor's name": { actor: "user-7@example.com" },
  "filtered by project": { project: "web" },
  "filtered by environment": { env: "prod" },
  "filtered by key": { key: "KEY_3" },
  "filtered by project, environment and key": { project: "web", env: "prod", key: "KEY_3" },
  "filtered by project and actor": { project: "web", actor: "user-7@example.com" },
  "filtered by key and action": { key: "KEY_3", action: "secret.read" },
  "filtered by rare project": { project: "legacy" },
  "filtered by rare project and key": { project: "legacy", key: "KEY_11" },
  "deep page of a key": { key: "KEY_3", deep: true },
  "since a time": { newest: 400 },
  "between two times": { newest: 400, oldest: 200 },
  "since a time, filtered by key": { newest: 400, key: "KEY_3" },
  "between two times, filtered by project and action": {
    newest: 400,
    oldest: 200,
    project: "web",
    action: "secret.read"
  }
}

/** Query parameters for the times of the entries at these distances from the newest. */
const timesOf = async (side, newest, oldest) => {
  const momentOf = async (number) => {
    const base = `/api/orgs/${side.scene.org}/audit-logs`
    let path = `${base}?limit=1`
    const { body } = await ask(side.server, "GET", path, { token: side.scene.owner })
    path += `&after=${body.pagination.next_cursor.replace(/\d+$/, body.pagination.total - number)}`
    return (await ask(side.server, "GET", path, { token: side.scene.owner })).body.data[0].created_at
  }
  return {
    ...(newest !== undefined && { since: await momentOf(newest) }),
    ...(oldest !== undefined && { until: await momentOf(oldest) })
  }
}

const pathOf = async ({ scene, server }, { deep, newest, oldest, ...filters }, global) => {
  const base = global ? "/api/audit-logs" : `/api/orgs/${scene.org}/audit-logs`
  const times = await timesOf({ scene, server }, newest, oldest)
  const path = `${base}?${new URLSearchParams({ limit: "20", ...filters, ...times })}`
  if (!deep) return path
  // Half of the small log deep, in both logs.
  const { body } = await ask(server, "GET", path, { token: scene.owner })
  const number = Math.floor(body.pagination.total / 2)
  return `${path}&after=${body.pagination.next_cursor.replace(/\d+$/, number)}`
}

/** Returns the median time of a page on each server, measured alternately. */
const compare = async (sides, filters, global, turns) => {
  const paths = await Promise.all(sides.map((side) => pathOf(side, filters, global)))
  const times = sides.map(() => [])
  for (let turn = -3; turn < turns; turn++) {
    for (const [index, { scene, server }] of sides.entries()) {
      const begun = performance.now()
      await ask(server, "GET", paths[index], { token: scene.owner })
      if (turn >= 0) times[index].push(performance.now() - begun)
    }
  }
  return times.map(median)
}

/** Compares all pages of a large log with those of a small one. */
export const comparePages = async (sides, { against, prefix = "", size, turns }) => {
  const results = []
  for (const global of [false, true]) {
    for (const [name, filters] of Object.entries(pages)) {
      const [big, little] = await compare(sides, filters, global, turns)
      results.push({
        row: `${prefix}audit, ${global ? "all logs" : "one log"}: ${name}, ${size.toLocaleString("en")} entries`,
        against,
        measured: `${big.toFixed(2)} ms`,
        base: `${little.toFixed(2)} ms`,
        ratio: big / little,
        target: 1.5,
        atLeast: false
      })
    }
  }
  return results
}

const auditRow = {
  name: "audit",
  // Tests hold the plans of its statements.
  quick: false,
  run: async (context) => {
    const logs = [await context.share("log", largeLog), await logWith(context, small)]
    const sides = [await serverOf(logs[0]), await serverOf(logs[1])]
    const results = await comparePages(sides, {
      against: `${small.toLocaleString("en")} entries`,
      size: context.entries,
      turns: context.quick ? 15 : 60
    })
    for (const { server } of sides) await server.stop()
    return results
  }
}

export const rows = [auditRow]
