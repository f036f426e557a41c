import { UserId } from "@coffer/domain/base/Ids"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Database } from "@coffer/server/database/Database"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startMeter } from "../../bench/support/meter.mjs"
import { people } from "../authorization/Service.js"
import { serverUrl } from "../support/postgres/Databases.js"
import { startServers } from "../support/postgres/Running.js"
import { newSession } from "../support/NewSession.js"
import { email } from "../support/Services.js"

// Other callers in an organization wait for the round trips of a change. The statements of one round trip are sent at once.

type Call = (index: number) => readonly [method: string, path: string, body?: unknown]
type By = () => Readonly<Record<string, string>>

/** How often a call is counted, and the milliseconds between: the jobs of the server go on meanwhile. */
const maxTimes = 40
const pauseMillis = 100

let meter: Awaited<ReturnType<typeof startMeter>>
let running: Awaited<ReturnType<typeof startServers>>
let server: (typeof running)["servers"][number]
let key: Readonly<Record<string, string>>
let delegation: Readonly<Record<string, string>>

const project = "/api/orgs/acme/projects/web"
const env = `${project}/envs/dev`

beforeAll(async () => {
  meter = await startMeter(Number(new URL(serverUrl()).port))
  running = await startServers(1, {}, meter.behind)
  const [one] = running.servers
  if (one === undefined) return assert.fail("no server was started")
  server = one
  const id = UserId.make(randomUUID())
  const now = new Date().toISOString()
  const { row, token } = newSession(id, now)
  await server.run(
    Effect.flatMap(Effect.all([Database, authRepo]), ([{ transaction }, auth]) =>
      transaction(
        Effect.zipRight(
          auth.insertUser({ id, email: email("ada@example.com"), name: "", now }),
          auth.insertSession(row)
        )
      )
    )
  )
  const ada = people(token)
  await server.do(ada, "POST", "/api/orgs", { name: "acme" })
  await server.do(ada, "POST", "/api/orgs/acme/projects", { name: "web" })
  const account = await server.do(ada, "POST", "/api/orgs/acme/service-accounts", { name: "bot" })
  await server.do(ada, "POST", "/api/orgs/acme/acl", {
    ...{ subject_type: "service_account", subject_id: account.id },
    ...{ project_pattern: "web", env_pattern: "dev", permission: "write" }
  })
  key = { "x-api-key": String(account.api_key) }
  const set = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`KEY_${index}`, `value ${index}`]))
  await server.do(key, "PATCH", `${env}/bundle`, { set })
  const scope = { name: "claude", org: "acme", project: "web", env: "dev", permission: "read", expires_in: 3_600 }
  delegation = people((await server.do(ada, "POST", "/api/auth/delegations", scope)).token)
})

afterAll(async () => {
  await running.stop()
  meter.stop()
})

interface Count {
  readonly trips: number
  readonly statements: number
}

/** The least that a call takes: the jobs of the server only add to it. Ends as soon as that is what is expected. */
const countOf = async (call: Call, expected: Count, by: By): Promise<Count> => {
  let least: Count = { trips: Infinity, statements: Infinity }
  for (let index = 0; index < maxTimes; index++) {
    const before = meter.counts()
    await server.do(by(), ...call(index))
    const after = meter.counts()
    const more = (what: keyof Count) =>
      after.inside[what] + after.outside[what] - before.inside[what] - before.outside[what]
    const found = { trips: more("trips"), statements: more("statements") }
    if (found.trips < least.trips) least = found
    if (found.trips === expected.trips && found.statements === expected.statements) return found
    await setTimeout(pauseMillis)
  }
  return least
}

describe("the round trips to PostgreSQL", () => {
  const calls: ReadonlyArray<readonly [what: string, trips: number, statements: number, call: Call, by?: By]> = [
    // The credential with the place; the secret.
    ["a read of a secret", 2, 2, () => ["GET", `${env}/secrets/KEY_50`]],
    ["a read of a secret by a delegation", 2, 2, () => ["GET", `${env}/secrets/KEY_50`], () => delegation],
    // The credential; all that is read under the lock; the rows with the end of the log; its entry with the commit.
    ["a new version of a secret", 4, 20, (index) => ["PUT", `${env}/secrets/KEY_51`, { value: `new ${index}` }]],
    ["a new secret", 4, 20, (index) => ["PUT", `${env}/secrets/NEW_${index}`, { value: "new" }]],
    ["the removal of a secret", 4, 20, (index) => ["DELETE", `${env}/secrets/KEY_${index}`]],
    [
      "a change of some secrets",
      4,
      27,
      (index) => [
        "PATCH",
        `${env}/bundle`,
        { set: { KEY_52: `a ${index}`, KEY_53: `b ${index}`, [`MORE_${index}`]: "c" } }
      ]
    ]
  ]
  for (const [what, trips, statements, call, by = () => key] of calls) {
    it(`of ${what} are ${trips}, for ${statements} statements`, async () => {
      const expected = { trips, statements }
      assert.deepStrictEqual(await countOf(call, expected, by), expected)
    })
  }
})
