import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Answer, type CallOptions, cleanUp, Program } from "../support/Program.js"

// Floods of the endpoints of OAuth, by strangers of one network and of ever other ones, beside the reads of a tenant.

const publicUrl = "https://coffer.test"

let program: Program
/** A host of clients' documents that takes connections and says nothing. */
const silent = createServer()
const sockets = new Set<Socket>()

beforeAll(async () => {
  silent.on("connection", (socket) => sockets.add(socket.on("error", () => undefined)))
  silent.listen(0, "127.0.0.1")
  await once(silent, "listening")
  program = await Program.start({
    SERVICE_PUBLIC_URL: publicUrl,
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1"
  })
})
afterAll(async () => {
  await program.remove()
  for (const socket of sockets) socket.destroy()
  silent.close()
  cleanUp()
})

type Ask = (from: string) => Promise<Answer>

const call =
  (method: string, path: string, options: CallOptions = {}): Ask =>
  (from) =>
    program.call(method, path, { ...options, headers: { ...options.headers, "x-real-ip": from } })

const callback = "http://127.0.0.1:33418/callback"

const register = call("POST", "/oauth/register", { body: { redirect_uris: [callback] } })

const exchange = call("POST", "/oauth/token", {
  raw: `grant_type=authorization_code&code=x&client_id=y&code_verifier=${"v".repeat(43)}`,
  headers: { "content-type": "application/x-www-form-urlencoded" }
})

const metadata = call("GET", "/.well-known/oauth-authorization-server")

const authorize = call("GET", "/-/authorize?client_id=x&response_type=code")

let documents = 0
/** Lets the server fetch the document of one more program. */
const fetching = (token: string): Ask => {
  const { port } = silent.address() as AddressInfo
  return (from) => {
    const request = new URLSearchParams({
      ...{ client_id: `https://localhost:${port}/program/${++documents}`, redirect_uri: callback },
      ...{ response_type: "code", code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeGK1t8URWbuGJSstw-cM" },
      ...{ code_challenge_method: "S256", resource: `${publicUrl}/mcp` }
    })
    return call("POST", "/api/auth/consents/review", { token, body: { request: String(request) } })(from)
  }
}

const settle = async (org: string) => {
  const token = await program.login(`${org}@example.com`)
  await program.call("POST", "/api/orgs", { token, body: { name: org } })
  await program.call("POST", `/api/orgs/${org}/projects`, { token, body: { name: "webshop" } })
  const path = `/api/orgs/${org}/projects/webshop/envs/dev/secrets/A`
  assert.strictEqual((await program.call("PUT", path, { token, body: { value: "one" } })).status, 200)
  return { path, token }
}

/** Reads a secret for some time. Returns how long each read took, sorted. */
const reads = async ({ path, token }: { readonly path: string; readonly token: string }, millis: number) => {
  const times: Array<number> = []
  const end = performance.now() + millis
  while (performance.now() < end) {
    const begun = performance.now()
    const { status, text } = await program.call("GET", path, { token })
    assert.strictEqual(status, 200, text)
    times.push(performance.now() - begun)
    await sleep(5)
  }
  return times.sort((one, other) => one - other)
}

/** Repeats requests on some connections beside the reads of a tenant. Returns the reads, and how often each status came. */
const beside = async (asks: ReadonlyArray<Ask>, fromOf: (index: number) => string) => {
  const other = await settle(`other-${documents++}`)
  await reads(other, 500)
  let isOver = false
  let sent = 0
  const statuses = new Map<number, number>()
  const flood = Promise.all(
    asks.map(async (ask) => {
      while (!isOver) {
        const { status } = await ask(fromOf(++sent))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
  )
  const times = await reads(other, 4_000)
  isOver = true
  await flood
  const median = times[Math.floor(times.length / 2)] ?? Infinity
  return { statuses, median }
}

const times = (count: number, ask: Ask): ReadonlyArray<Ask> => Array.from({ length: count }, () => ask)

const elsewhere = (index: number) => `198.${18 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`

/** Requests on as many connections that cost the server little: the machine's other work, and that of the client, is in both. */
const idle: Ask = call("POST", "/nothing", { body: {} })

const patience = async (connections: number) => 4 * (await beside(times(connections, idle), elsewhere)).median + 100

describe("a flood by strangers at the endpoints of OAuth", () => {
  const doors = { register, exchange, metadata, authorize }
  for (const [name, ask] of Object.entries(doors)) {
    it(`of ever other networks, ${name}: no read of another tenant is refused or waits`, async () => {
      const { median, statuses } = await beside(times(16, ask), elsewhere)
      assert.isBelow(median, await patience(16))
      assert.notInclude([...statuses.keys()], 500)
      assert.isAbove(
        [...statuses.values()].reduce((sum, count) => sum + count, 0),
        50
      )
    })
  }

  it("of one network is refused beyond its limit, and no read of another tenant is refused or waits", async () => {
    const { median, statuses } = await beside([...times(8, register), ...times(8, exchange)], () => "198.51.100.7")
    assert.isBelow(median, await patience(16))
    assert.isAbove(statuses.get(429) ?? 0, 50)
    assert.strictEqual(statuses.get(201), 30)
  })

  it("of documents that never come: no read of another tenant is refused or waits", async () => {
    const people = await Promise.all(["x", "y", "z"].map((name) => program.login(`${name}@example.com`)))
    const { median, statuses } = await beside(
      people.flatMap((token) => times(8, fetching(token))),
      elsewhere
    )
    assert.isBelow(median, await patience(24))
    assert.sameMembers(
      [400, 503].filter((status) => statuses.has(status)),
      [400, 503]
    )
    assert.isAbove(sockets.size, 4)
  })
})
