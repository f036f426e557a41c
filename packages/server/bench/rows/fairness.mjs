import { mkdtempSync } from "node:fs"
import { createServer } from "node:https"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { ask, logIn, settleOrg, startCoffer } from "../support/coffer.mjs"
import { percentile } from "../support/load.mjs"
import { certificateIn } from "./broker.mjs"
import { shared } from "./postgres.mjs"

/** The longest that another organization may wait for a response, in milliseconds. */
const target = 250

const keys = 2_000

const send = async (server, method, path, { body, token }) => {
  const begun = performance.now()
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    body
  })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return performance.now() - begun
}

/** Repeats a request until `isOver`. Returns how long each took. */
const repeat = async (isOver, request, pauseMillis = 0) => {
  const times = []
  while (!isOver()) {
    times.push(await request(times.length))
    if (pauseMillis > 0) await sleep(pauseMillis)
  }
  return times.sort((a, b) => a - b)
}

const bulkOf = (round) =>
  JSON.stringify({
    set: Object.fromEntries(
      Array.from({ length: keys }, (_, index) => [`KEY_${index}`, `${round} of ${index} `.padEnd(128, "x")])
    )
  })

/** One organization compares large environments and writes one of them; the other one reads and writes single secrets. */
const prepare = async (server) => {
  const token = await logIn(server, "ada@example.com")
  const large = await settleOrg(server, token, { org: "large", secrets: 1 })
  const small = await settleOrg(server, await logIn(server, "bob@example.com"), { org: "small", secrets: 250 })
  const base = large.env.slice(0, large.env.lastIndexOf("/"))
  for (const env of ["staging", "dev", "prod"]) {
    await send(server, "PATCH", `${base}/${env}/bundle`, { token, body: bulkOf(0) })
  }
  for (let round = 1; round <= 4; round++) {
    await send(server, "PATCH", `${base}/dev/bundle`, { token, body: bulkOf(round) })
  }
  return { base, token, small }
}

/** Searches of a log of 14,000 entries: by one value, by two, by one that is in few entries, and by two that never meet. */
const filters = ["action=secret.set", "env=dev&key=KEY_7", "key=KEY_7", "env=staging&action=env.create"]

/** Measures requests of the small organization beside those of the large one. */
const measure = async (server, { base, small, token }, seconds, { bulks = 0, diffs = 0, searches = 0 } = {}) => {
  const end = performance.now() + seconds * 1000
  const isOver = () => performance.now() > end
  const own = { token: small.owner }
  const secret = (index) => `${small.env}/secrets/${small.keys[index % small.keys.length]}`
  const bodies = [bulkOf(1), bulkOf(2)]
  const log = `${base.slice(0, base.indexOf("/projects"))}/audit-logs`
  const many = (count, request) => Promise.all(Array.from({ length: count }, () => repeat(isOver, request)))
  const [reads, writes, lists] = await Promise.all([
    repeat(isOver, (index) => send(server, "GET", secret(index), own), 5),
    repeat(isOver, (index) => send(server, "PUT", secret(index), { ...own, body: `{"value":"${index}"}` }), 5),
    repeat(isOver, () => send(server, "GET", `${small.env}/secrets`, own), 20),
    many(bulks, (index) => send(server, "PATCH", `${base}/dev/bundle`, { token, body: bodies[index % 2] })),
    many(diffs, () => send(server, "GET", `${base}/prod/diff?with=staging`, { token })),
    many(searches, (index) => send(server, "GET", `${log}?${filters[index % filters.length]}&limit=100`, { token }))
  ])
  return { reads, writes, lists }
}

const milliseconds = (times) =>
  `p50 ${percentile(times, 0.5).toFixed(0)}, p99 ${percentile(times, 0.99).toFixed(0)}, max ${(times.at(-1) ?? 0).toFixed(0)} ms of ${times.length}`

const loads = [
  { name: "5 diffs and a bulk write of 2,000 keys", load: { diffs: 5, bulks: 1 } },
  { name: "24 diffs", load: { diffs: 24 } },
  { name: "16 searches of the log", load: { searches: 16 } }
]

/** Measures how long requests of one organization wait beside the bulk of another one. */
export const fairnessOf = async (engine, server, seconds) => {
  const scene = await prepare(server)
  await measure(server, scene, 1)
  const calm = await measure(server, scene, seconds / 2)
  const results = []
  for (const { load, name } of loads) {
    const loaded = await measure(server, scene, seconds, load)
    const row = (what, kind, share) => {
      const ratio = percentile(loaded[kind], share)
      return {
        row: `${engine}: ${what} of another organization, milliseconds`,
        against: `beside ${name}`,
        measured: milliseconds(loaded[kind]),
        base: `calm ${milliseconds(calm[kind])}`,
        ratio,
        target,
        atLeast: false,
        // --quick has too few bulk writes for a percentile.
        watched: kind !== "writes"
      }
    }
    results.push(
      row("99th percentile of writes", "writes", 0.99),
      row("worst read", "reads", 1),
      row("99th percentile of lists of 250 secrets", "lists", 0.99)
    )
  }
  return results
}

const mebibyte = 1024 * 1024

/** The memory of a small machine, in MiB. Its server lives through all rows below. */
const smallMachine = 512

/** Requests of a bystander: how long each took, and how many were refused. */
const watch = async (isOver, request) => {
  const times = []
  const refused = new Map()
  while (!isOver()) {
    const begun = performance.now()
    const status = await request(times.length)
    times.push(performance.now() - begun)
    if (status >= 400) refused.set(status, (refused.get(status) ?? 0) + 1)
    await sleep(5)
  }
  return { times: times.sort((a, b) => a - b), refused }
}

const noResponse = 599

const statusOf = async (server, method, path, { body, key, token }) => {
  try {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        ...(key === undefined ? { authorization: `Bearer ${token}` } : { "x-api-key": key }),
        ...(body !== undefined && { "content-type": "application/json" })
      },
      body
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    // The connection broke, or the server has ended.
    await sleep(100)
    return noResponse
  }
}

/** Asks for a path on connections of its own and reads 4 KiB of the responses a second. Asks again when it is cut or refused. */
const readSlowly = async (server, path, key, isOver) => {
  const { hostname, port } = new URL(server.url)
  while (!isOver()) {
    const socket = connect({ host: hostname, port: Number(port), highWaterMark: 4096 })
    socket.on("error", () => undefined)
    let isOpen = true
    socket.once("close", () => (isOpen = false))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`)
    socket.pause()
    while (isOpen && !isOver()) {
      const part = socket.read(4096)
      // A refusal ends here: the rest of a response does not fit into one part.
      if (part !== null && / 503 /.test(part.toString("latin1").slice(0, 20))) break
      await sleep(isOver() ? 0 : 250)
    }
    socket.destroy()
  }
}

const anotherAccount = async (server, { org, owner }, permission, name) => {
  const { body: account } = await ask(server, "POST", `/api/orgs/${org}/service-accounts`, {
    token: owner,
    body: { name }
  })
  await ask(server, "POST", `/api/orgs/${org}/acl`, {
    token: owner,
    body: {
      subject_type: "service_account",
      subject_id: account.id,
      project_pattern: "web",
      env_pattern: "prod",
      permission
    }
  })
  return account.api_key
}

/** Two accounts of one organization that read 7 MB slowly, on four connections each. */
const slowReaders = async (server, { ada }) => {
  const large = await settleOrg(server, ada, { org: "slow", secrets: 0 })
  for (let part = 0; part < 7; part++) {
    const set = Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`LARGE_${part}_${index}`, "v".repeat(63_000)])
    )
    await ask(server, "PATCH", `${large.env}/bundle`, { token: ada, body: { set } })
  }
  const keys = [large.key, await anotherAccount(server, large, "read", "second")]
  return (isOver) =>
    Promise.all(
      keys.flatMap((key) => Array.from({ length: 4 }, () => readSlowly(server, `${large.env}/bundle`, key, isOver)))
    )
}

/** 200 connections of one organization that read secrets, each the next as soon as it has one. */
const goodReads = async (server, { ada }) => {
  const large = await settleOrg(server, ada, { org: "many", secrets: 100 })
  const { hostname, port } = new URL(server.url)
  const readAll = async (isOver, index) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on("error", () => undefined)
    const path = `${large.env}/secrets/${large.keys[index % large.keys.length]}`
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${large.key}\r\n\r\n`
    const closed = once(socket, "close")
    while (!isOver() && !socket.destroyed) {
      socket.write(request)
      await Promise.race([once(socket, "data"), closed]).catch(() => undefined)
    }
    socket.destroy()
  }
  return (isOver) => Promise.all(Array.from({ length: 200 }, (_, index) => readAll(isOver, index)))
}

/** One line of nested lists, as large as the call takes, again and again. */
const nestedLists = async (server, { ada }) => {
  const depth = 4 * mebibyte
  const body = JSON.stringify({ name: "nested", organization: `${"[".repeat(depth)}${"]".repeat(depth)}` })
  return async (isOver) => {
    while (!isOver()) await statusOf(server, "POST", "/api/imports", { token: ada, body })
  }
}

/** Imports of the largest organization that the limits allow, one after the other: members, rules, and values of 64 KiB. */
const largestImports = async (server, { ada: token }) => {
  // The importer is one of the 10,000 members too.
  const people = Array.from({ length: 9_999 }, (_, index) => `member-${index}@example.com`)
  const organization = [
    { projects: { name: "web", strict: false, environments: [{ name: "prod" }] } },
    ...people.map((email) => ({ members: { email, role: "member" } })),
    ...people.flatMap((subject, index) =>
      ["web", "shop"].map((name) => ({
        rules: {
          ...{ subject_type: "user", subject, permission: "read" },
          ...{ project_pattern: `${name}-${index}*`, env_pattern: "{staging,prod}-*" }
        }
      }))
    )
  ]
    .map((line) => JSON.stringify(line))
    .join("\n")
  const versions = 120
  const data = Array.from({ length: versions }, (_, index) => ({
    ...{ key: `KEY_${index}`, version: 1, value: "v".repeat(65_536), current: { use_rules: [] } },
    ...{ created_at: "2026-01-31T12:00:00.000Z", created_by: "ada@example.com" }
  }))
  const counts = { projects: 1, environments: 1, secrets: versions, versions, use_rules: 0, declared: 0 }
  return async (isOver) => {
    for (let round = 0; !isOver(); round++) {
      const { body } = await ask(server, "POST", "/api/imports", {
        token,
        body: { name: `imported-${round}`, organization }
      })
      const imported = `/api/imports/${body.id}`
      await ask(server, "PUT", `${imported}/secrets`, { token, body: { project: "web", env: "prod", data } })
      await ask(server, "POST", `${imported}/finish`, { token, body: { counts } })
    }
  }
}

/** Twenty clients that change 2,000 keys each, of environments of their own. */
const largeChanges = async (server, { ada }) => {
  const large = await settleOrg(server, ada, { org: "changes", secrets: 0 })
  const base = large.env.slice(0, large.env.lastIndexOf("/"))
  const names = Array.from({ length: 20 }, (_, index) => `env-${index}`)
  for (const name of names) await ask(server, "POST", base, { token: ada, body: { name } })
  const bodies = [bulkOf(1), bulkOf(2)]
  return async (isOver) => {
    const statuses = new Map()
    await Promise.all(
      names.map(async (name) => {
        for (let round = 0; !isOver(); round++) {
          const status = await statusOf(server, "PATCH", `${base}/${name}/bundle`, {
            token: ada,
            body: bodies[round % 2]
          })
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      })
    )
    return statuses
  }
}

/** A host that answers `/small`, and nothing else ever. */
const startHanging = async (files) => {
  const server = createServer(certificateIn(files), (incoming, response) => {
    if (incoming.url === "/small") response.end("{}")
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    host: `localhost:${server.address().port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Lets accounts of an organization make requests with a secret to a host. Returns their keys. */
const usersOf = async (server, { env, org, owner }, names, host) => {
  const made = await Promise.all(
    names.map(async (name) => {
      const { body } = await ask(server, "POST", `/api/orgs/${org}/service-accounts`, { token: owner, body: { name } })
      const rule = { subject_type: "service_account", subject_id: body.id, permission: "use" }
      await ask(server, "POST", `/api/orgs/${org}/acl`, {
        token: owner,
        body: { ...rule, project_pattern: "*", env_pattern: "*" }
      })
      return body.api_key
    })
  )
  await ask(server, "POST", `${env}/secrets/KEY_0/use-rules`, {
    token: owner,
    body: {
      hosts: [host],
      paths: ["/*"],
      place: { in: "header", name: "authorization", format: "Bearer {}" },
      accounts: names,
      per_minute: 6_000,
      per_day: 1_000_000
    }
  })
  return made
}

const useOf = (server, { env }, key, url) =>
  statusOf(server, "POST", `${env}/use`, { key, body: JSON.stringify({ method: "GET", url, secrets: ["KEY_0"] }) })

/** Two organizations whose accounts make requests to a host that never answers. */
const hangingUses = async (server, { ada, host }) => {
  const keys = []
  for (const org of ["hanging", "hanging-too"]) {
    const scene = await settleOrg(server, ada, { org, secrets: 1 })
    for (const key of await usersOf(server, scene, ["one", "two", "three"], host)) keys.push({ key, scene })
  }
  const hang = async (isOver, { key, scene }) => {
    while (!isOver()) await useOf(server, scene, key, `https://${host}/never`)
  }
  return (isOver) =>
    Promise.race([
      Promise.all(keys.flatMap((one) => Array.from({ length: 4 }, () => hang(isOver, one)))),
      // The last of them hang for 30 seconds more.
      (async () => {
        while (!isOver()) await sleep(100)
      })()
    ])
}

/** Without it, nobody is asked for consent. */
const publicUrl = "https://coffer.test"

const challenge = "E9Melhoa2OwvFrEMTJguCHaoeGK1t8URWbuGJSstw-cM"

/**
 * Strangers of ever other networks who register programs, try codes, and read the metadata and the page of consent; and three people
 * who let the server fetch documents of programs from a host that never answers.
 */
const strangers = async (server, { host }) => {
  const people = []
  for (const name of ["x", "y", "z"]) people.push(await logIn(server, `${name}@example.com`))
  let sent = 0
  const from = async (path, init = {}) => {
    const headers = { ...init.headers, "x-real-ip": `198.${18 + (++sent >> 16)}.${(sent >> 8) & 255}.${sent & 255}` }
    await fetch(server.url + path, { ...init, headers }).then(
      (response) => response.arrayBuffer(),
      () => sleep(100)
    )
  }
  const json = (body, token) => ({
    method: "POST",
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body)
  })
  const registration = json({ redirect_uris: ["http://127.0.0.1:33418/callback"], client_name: "flood" })
  const form = new URLSearchParams({ grant_type: "authorization_code", code: "x", client_id: "y" })
  const exchange = {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `${form}&code_verifier=${"v".repeat(43)}`
  }
  const review = (token) => {
    const request = new URLSearchParams({
      ...{ client_id: `https://${host}/never/${sent}`, redirect_uri: "http://127.0.0.1:33418/callback" },
      ...{
        response_type: "code",
        code_challenge: challenge,
        code_challenge_method: "S256",
        resource: `${publicUrl}/mcp`
      }
    })
    return from("/api/auth/consents/review", json({ request: String(request) }, token))
  }
  const floods = [
    () => from("/oauth/register", registration),
    () => from("/oauth/token", exchange),
    () => from("/.well-known/oauth-authorization-server"),
    () => from("/-/authorize?client_id=x")
  ]
  const flood = async (isOver, request) => {
    while (!isOver()) await request()
  }
  return (isOver) =>
    Promise.race([
      Promise.all([
        ...floods.flatMap((request) => Array.from({ length: 8 }, () => flood(isOver, request))),
        ...people.flatMap((token) => Array.from({ length: 8 }, () => flood(isOver, () => review(token))))
      ]),
      // A document is waited for after the end.
      flood(isOver, () => sleep(100))
    ])
}

/** Other work of the machine delays requests that run beside nothing too. */
const nothing = () => async (isOver) => {
  while (!isOver()) await sleep(100)
}

const loadsBeside = [
  { name: "nothing", prepare: nothing },
  { name: "two accounts of one organization that read 7 MB slowly", prepare: slowReaders },
  { name: "200 connections of good reads", prepare: goodReads },
  { name: "lines of 8 MiB of nested lists to POST /api/imports", prepare: nestedLists },
  { name: "20 clients that change 2,000 keys each", prepare: largeChanges },
  { name: "imports of the largest organization", prepare: largestImports },
  { name: "two organizations with hanging hosts", prepare: hangingUses },
  { name: "strangers at the endpoints of OAuth", prepare: strangers }
]

const described = ({ refused, times }) =>
  `${milliseconds(times)}${[...refused].map(([status, count]) => `, ${count} × ${status}`).join("")}`

/** A refusal counts as a response that took too long. */
const refusedMillis = 10_000

const worstOf = ({ refused, times }) => (refused.size > 0 ? refusedMillis : percentile(times, 0.99))

const hasEnded = ({ child }) => child.exitCode !== null || child.signalCode !== null

/** Measures another organization's write and bundle of 50 KB beside loads that must not touch it, on a small machine. */
export const besideOf = async (engine, start, seconds) => {
  const files = mkdtempSync(join(tmpdir(), "coffer-hanging-"))
  const hanging = await startHanging(files)
  const options = {
    nodeArgs: [`--max-old-space-size=${smallMachine / 2}`],
    env: {
      SERVICE_BROKER: "1",
      SERVICE_PUBLIC_URL: publicUrl,
      SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
      NODE_EXTRA_CA_CERTS: join(files, "ca.pem")
    }
  }
  let server = await start(options)
  const ada = await logIn(server, "ada@example.com")
  const small = await settleOrg(server, await logIn(server, "bob@example.com"), {
    org: "small",
    secrets: 100,
    value: () => "v".repeat(400)
  })
  const [user] = await usersOf(server, small, ["user"], hanging.host)
  const results = []
  let peak = 0
  const sampling = setInterval(() => {
    // Not a number while a server ends.
    const memory = hasEnded(server) ? 0 : server.memory()
    if (memory > peak) peak = memory
  }, 50)
  for (const { name, prepare: prepareLoad } of loadsBeside) {
    const run = await prepareLoad(server, { ada, host: hanging.host })
    const end = performance.now() + seconds * 1000
    const isOver = () => performance.now() > end || hasEnded(server)
    peak = server.memory()
    const idle = peak
    const own = { token: small.owner }
    const [, puts, bundles, uses] = await Promise.all([
      // A load fails when the server ends, which is its result then.
      run(isOver).catch((error) => {
        if (!hasEnded(server)) throw error
      }),
      sleep(500).then(() =>
        watch(isOver, (index) =>
          statusOf(server, "PUT", `${small.env}/secrets/KEY_1`, { ...own, body: `{"value":"${index}"}` })
        )
      ),
      sleep(500).then(() => watch(isOver, () => statusOf(server, "GET", `${small.env}/bundle`, own))),
      sleep(500).then(() => watch(isOver, () => useOf(server, small, user, `https://${hanging.host}/small`)))
    ])
    const row = (what, found) => ({
      row: `${engine}: 99th percentile of ${what} of another organization, milliseconds`,
      against: `beside ${name}`,
      measured: `${hasEnded(server) ? "server ended; " : ""}${described(found)}`,
      base: `memory ${idle.toFixed(0)}, then ${peak.toFixed(0)} MiB`,
      ratio: hasEnded(server) ? refusedMillis : worstOf(found),
      target,
      atLeast: false
    })
    results.push(row("PUT", puts), row("bundles of 50 KB", bundles), row("requests with secrets", uses), {
      row: `${engine}: peak of resident memory, MiB`,
      against: `beside ${name}`,
      measured: `${peak.toFixed(0)} MiB`,
      base: `${idle.toFixed(0)} MiB before`,
      ratio: peak,
      target: smallMachine,
      atLeast: false
    })
    if (hasEnded(server)) server = await start(options)
  }
  clearInterval(sampling)
  await server.stop()
  hanging.stop()
  return results
}

const secondsOf = ({ quick }) => (quick ? 4 : 20)

const sqliteRow = {
  name: "fairness",
  quick: true,
  run: async (context) => {
    const server = await startCoffer(context.folder("fairness"))
    const results = await fairnessOf("SQLite", server, secondsOf(context))
    await server.stop()
    return results
  }
}

const postgresRow = {
  name: "postgres-fairness",
  run: async (context) => {
    const { postgres } = await shared(context)
    const server = await startCoffer(context.folder("postgres-fairness"), {
      databaseUrl: await postgres.database("fairness")
    })
    const results = await fairnessOf("PostgreSQL", server, secondsOf(context))
    await server.stop()
    return results
  }
}

const besideRow = {
  name: "beside",
  run: (context) =>
    besideOf("SQLite", (options) => startCoffer(context.folder("beside"), options), secondsOf(context) / 2)
}

const postgresBesideRow = {
  name: "postgres-beside",
  run: async (context) => {
    const { postgres } = await shared(context)
    const databaseUrl = await postgres.database("beside")
    return besideOf(
      "PostgreSQL",
      (options) => startCoffer(context.folder("postgres-beside"), { ...options, databaseUrl }),
      secondsOf(context) / 2
    )
  }
}

export const rows = [sqliteRow, postgresRow, besideRow, postgresBesideRow]
