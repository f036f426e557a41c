import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { shiftedClock } from "../../support/ProcessHooks.js"
import { copyOfTemplate, drop, onServer, serverUrl } from "../../support/postgres/Databases.js"
import { cleanUp, type Json, Program } from "../../support/Program.js"

const hourMillis = 3_600_000
/** How far a time may be from this process's, which is on the same machine. */
const nearMillis = 60_000

const org = "/api/orgs/acme"
const secret = `${org}/projects/webshop/envs/dev/secrets/A`

let name: string
let right: Program
let fast: Program
let slow: Program

const start = (shiftMillis: number) =>
  Program.start({
    SERVICE_DATABASE_URL: `${serverUrl()}/${name}`,
    SUPERADMIN_EMAIL_0: "ada@example.com",
    ...(shiftMillis !== 0 && { NODE_OPTIONS: shiftedClock(shiftMillis) })
  })

/** Every moment in an answer is about now. */
const assertNow = (text: string): void => {
  const moments = text.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? []
  assert.isAbove(moments.length, 0, text)
  for (const moment of moments) {
    assert.isBelow(Math.abs(Date.parse(moment) - Date.now()), nearMillis, `${moment} in ${text}`)
  }
}

const query = (text: string): Promise<ReadonlyArray<Json>> =>
  Effect.runPromise(onServer(name, async (client) => (await client.query(text)).rows))

beforeAll(async () => {
  name = await Effect.runPromise(copyOfTemplate)
  right = await start(0)
  fast = await start(hourMillis)
  slow = await start(-hourMillis)
})

afterAll(async () => {
  await Promise.all([right, fast, slow].map((server) => server.remove()))
  cleanUp()
  await Effect.runPromise(drop(name))
})

describe("servers whose clocks are an hour off", () => {
  it("warn at their start, and only they", () => {
    const warning =
      /the clocks differ by (3599|3600|3601)\.\d seconds: this server's says .*, which is taken; set both by NTP/
    assert.match(fast.log, warning)
    assert.match(slow.log, warning)
    assert.notMatch(right.log, /clocks/)
  })

  it("take codes, sessions and keys of each other, with times that are right", async () => {
    const servers = [right, fast, slow]
    const tokens: Array<string> = []
    for (const [index, asked] of servers.entries()) {
      const email = "ada@example.com"
      const code = await asked.codeFor(email)
      const verified = await servers[(index + 1) % 3]!.verify(email, code)
      assert.strictEqual(verified.status, 200, verified.text)
      tokens.push(verified.body.token)
    }
    for (const token of tokens) {
      for (const server of servers) {
        const { status, text } = await server.call("GET", "/api/auth/sessions", { token })
        assert.strictEqual(status, 200, text)
        const { data } = JSON.parse(text)
        for (const { created_at, last_used_at } of data) assertNow(JSON.stringify({ created_at, last_used_at }))
      }
    }
    const [token] = tokens
    const changes: ReadonlyArray<readonly [Program, string, unknown]> = [
      [fast, "/api/orgs", { name: "acme" }],
      [slow, `${org}/projects`, { name: "webshop" }],
      [fast, `${org}/members`, { email: "grace@example.com", role: "admin" }]
    ]
    for (const [server, path, body] of changes) {
      const answer = await server.call("POST", path, { token, body })
      assert.strictEqual(answer.status, 201, answer.text)
      assertNow(answer.text)
    }
    for (const server of servers) {
      assertNow((await server.call("PUT", secret, { token, body: { value: server.url } })).text)
    }
    const account = await fast.call("POST", `${org}/service-accounts`, {
      token,
      body: { name: "ci", expires_in_days: 1 }
    })
    const headers = { "x-api-key": String(account.body.api_key) }
    // The key that is replaced lives for a minute more, wherever it is asked for.
    const rotated = await slow.call("POST", `${org}/service-accounts/${account.body.id}/rotate`, {
      token,
      body: { grace_seconds: 60 }
    })
    assert.strictEqual(rotated.status, 200, rotated.text)
    for (const server of servers) {
      assert.strictEqual((await server.call("GET", "/api/auth/me", { headers })).status, 200)
    }
    const { text } = await right.call("GET", "/api/audit-logs?limit=100", { token })
    assertNow(text.replace(/"expires_at":"[^"]+"/g, ""))
    for (const path of [`${org}/audit-logs/verify`, "/api/audit-logs/verify"]) {
      assert.isTrue((await slow.call("GET", path, { token })).body.valid)
    }
  })

  it("hold leases and heartbeats by the database's clock, and do each job once", async () => {
    await setTimeout(500)
    const instances = await query("SELECT seen_at FROM instances")
    assert.lengthOf(instances, 3)
    assertNow(JSON.stringify(instances))
    const jobs = await query("SELECT name, bucket, until, token FROM jobs WHERE bucket <> ''")
    assert.isAbove(jobs.length, 0)
    const names = jobs.map(({ name }) => String(name))
    assert.strictEqual(new Set(names).size, names.length, "a job has one bucket")
    for (const { bucket, token } of jobs) {
      assert.isBelow(Math.abs(Date.parse(bucket) - Date.now()), hourMillis + nearMillis)
      assert.strictEqual(token, 1)
    }
  })
})
