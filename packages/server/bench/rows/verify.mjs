import { request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { auditActions, resourceTypes } from "../../../domain/dist/audit/AuditEntry.js"
import { ask, startCoffer } from "../support/coffer.mjs"
import { orgId } from "../support/data.mjs"
import { load } from "../support/load.mjs"
import { readsOf } from "../support/requests.mjs"
import { fill } from "../support/stores.mjs"
import { env, largeLog } from "./audit.mjs"

const expect = (what, found, wanted) => {
  if (found !== wanted) throw new Error(`${what}: ${found}, not ${wanted}`)
}

/** Verifies the log of an organization. `fetch` would wait no longer than five minutes. */
const verify = ({ url }, { org, owner }) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${owner}` }
    const sent = request(`${url}/api/orgs/${org}/audit-logs/verify`, { headers }, async (response) => {
      const text = (await response.toArray()).join("")
      if (response.statusCode === 200) resolve(JSON.parse(text))
      else reject(new Error(`verify: ${response.statusCode} ${text}`))
    })
    sent.once("error", reject).end()
  })

/** Checks the totals of filters, which verification does not cover: those of all words make up the log. */
const checkTotals = async (server, { org, owner }, entries) => {
  const totalOf = async (filter) => {
    const { body } = await ask(server, "GET", `/api/orgs/${org}/audit-logs?limit=1&${filter}`, { token: owner })
    return body.pagination.total
  }
  expect("the total", await totalOf(""), entries)
  for (const [field, words] of [
    ["action", auditActions],
    ["resource_type", resourceTypes]
  ]) {
    let sum = 0
    for (const word of words) sum += await totalOf(`${field}=${word}`)
    expect(`the totals of each ${field}`, sum, entries)
  }
}

/** Changes one byte of an entry in the file of a stopped server. */
const changeEntry = (files, { org }, seq) =>
  fill(files, async (store) => {
    const log = await orgId(store, org)
    const trigger = await store.one("SELECT sql FROM sqlite_schema WHERE name = 'audit_entries_no_update'")
    await store.all("DROP TRIGGER audit_entries_no_update")
    await store.all(
      "UPDATE audit_entries SET actor_name = 'U' || substr(actor_name, 2) WHERE log = ? AND seq = ?",
      log,
      seq
    )
    await store.all(trigger.sql)
  })

const row = {
  name: "verify",
  quick: false,
  run: async (context) => {
    const { files, scene } = await context.share("log", largeLog)
    const reads = { requests: readsOf(scene), connections: 8, rate: 200 }

    // Verification writes nothing, so that a server may be killed while it verifies.
    const first = await startCoffer(files, { env })
    const ended = verify(first, scene).then(
      () => "verified",
      () => "killed"
    )
    // Long before its end, at any speed that a machine has.
    await sleep(Math.min(context.entries / 100, 20_000))
    await first.stop("SIGKILL")
    expect("a verification", await ended, "killed")

    const server = await startCoffer(files, { env })
    await checkTotals(server, scene, context.entries)
    await load(server, { ...reads, seconds: 10 })
    await sleep(2000)
    const idle = server.memory()
    await server.longestStall()
    const calm = await load(server, { ...reads, seconds: 20 })
    const calmStall = await server.longestStall()

    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, server.memory())), 50)
    const begun = performance.now()
    const verifying = verify(server, scene)
    const during = await load(server, { ...reads, seconds: 20 })
    const stall = await server.longestStall()
    const whole = await verifying
    const seconds = (performance.now() - begun) / 1000
    clearInterval(watch)
    await server.stop()
    expect("the log is valid", whole.valid, true)

    const middle = Math.floor(context.entries / 2)
    await changeEntry(files, scene, middle)
    const last = await startCoffer(files, { env })
    const found = await verify(last, scene)
    await last.stop()
    expect("the first invalid entry", found.first_invalid_seq, middle)

    const size = context.entries.toLocaleString("en")
    const ms = ({ p50, p99 }) => `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`
    return [
      {
        row: `verification of ${size} audit entries: microseconds an entry`,
        against: "",
        measured: `${seconds.toFixed(0)} s, ${Math.round(whole.entries / seconds).toLocaleString("en")}/s`,
        base: "",
        ratio: (seconds * 1e6) / whole.entries,
        target: undefined,
        atLeast: false
      },
      {
        row: `verification of ${size} audit entries: peak of resident memory over idle`,
        against: "",
        measured: `${(peak - idle).toFixed(0)} MiB`,
        base: "",
        ratio: peak - idle,
        target: 150,
        atLeast: false
      },
      {
        row: "99th percentile of secret reads, 200/s, during a verification",
        against: "without it",
        measured: ms(during),
        base: ms(calm),
        ratio: during.p99 / calm.p99,
        target: 3,
        atLeast: false
      },
      {
        row: "longest stall of the event loop during a verification",
        against: "without it",
        measured: `${stall.toFixed(1)} ms`,
        base: `${calmStall.toFixed(1)} ms`,
        ratio: stall / calmStall,
        target: 3,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
