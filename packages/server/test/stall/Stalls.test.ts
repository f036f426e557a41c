import { fileURLToPath } from "node:url"
import { BodyLimit, defaultBodyLimit } from "@coffer/domain/api/Requirement"
import { Api } from "@coffer/domain/Api"
import { HttpApi } from "@effect/platform"
import { Context, Option } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endpoints, type Place, pathOf } from "../authorization/Contract.js"
import { freshSettings } from "../backups/Endpoint.js"
import { cleanUp, freshFolder, Program } from "../support/Program.js"
import { masterKey } from "../support/Services.js"
import { fill, fullKeys, type Limits, superadmin } from "./Limits.js"
import { malicious, type Row, rows } from "./Rows.js"

// No request holds the event loop for longer than this, in milliseconds, on a machine on which the calibration takes as long as
// on the one that the limit is for.
//
// What counts is how long the server's main thread computes in one turn of its event loop: other programs on the machine make a
// turn last longer, and not what is computed in it. Caches and cores that are shared make it slower too: so a fixed piece of
// work is measured in the same process right before, and the limit grows with what that takes. Last, what is over the limit
// is tried again: a pause of the garbage collector is over it now and then, and a request that computes too much always is.
const budget = 50
const calibrated = 20
const attempts = 4
const long = process.env.COFFER_LONG === "1"
/**
 * The short form measures few calls, for fewer callers, and fails only far beyond the budget: the whole table takes minutes of
 * a processor that nothing else uses.
 */
const inShort: ReadonlySet<string> = new Set([
  "PATCH /api/orgs/:org_name/projects/:project_name/envs/:env_name/bundle",
  "GET /api/orgs/:org_name/members",
  "GET /api/orgs/:org_name/acl"
])
const tolerance = long ? 1 : 10

/** Calls that are over the budget still, and what they may take. */
const known: Readonly<Record<string, number>> = {
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key/destroy": 5_000,
  "GET /api/orgs/:org_name/audit-logs": 500,
  "GET /api/orgs/:org_name/audit-logs/verify": 500,
  "GET /api/audit-logs": 500,
  "GET /api/audit-logs/verify": 500,
  "POST /api/backups": 500,
  "POST /api/backups/drill": 500,
  "POST /api/backups/:backup_id/restore": 500
}

const probe = fileURLToPath(new URL("Probe.mjs", import.meta.url))

/** The most that a call reads of a body, in bytes; none where it reads no body. */
const limitsOfBodies = new Map<string, number>()
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, mergedAnnotations }) => {
    if (Option.isNone(endpoint.payloadSchema)) return
    const limit = Option.getOrElse(Context.getOption(mergedAnnotations, BodyLimit), () => defaultBodyLimit)
    limitsOfBodies.set(`${endpoint.method} ${endpoint.path}`, limit)
  }
})

let program: Program
let limits: Limits
let asked = 0
let measured = 0

beforeAll(async () => {
  const folder = freshFolder()
  limits = await fill(`${folder}/service.db`)
  program = await Program.start(
    {
      ...freshSettings(),
      SERVICE_MASTER_KEY: masterKey,
      SUPERADMIN_EMAIL_0: superadmin,
      NODE_OPTIONS: `--import ${probe}`
    },
    folder
  )
}, 300_000)

interface Stall {
  readonly cpu: number
  readonly wall: number
  readonly status: number
}

/** What the probe says since it was asked last. */
const look = async (): Promise<{ readonly probe: Omit<Stall, "status">; readonly calibration: number }> => {
  program.signal("SIGUSR2")
  const [line] = await program.said(/^\{"probe".*\}$/m, ++measured)
  return JSON.parse(line)
}

const backup = async (): Promise<string> => {
  const { root: token } = limits.credentials
  const { body } = await program.call("GET", "/api/backups", { token })
  if (body.data.length > 0) return body.data[0].id
  return (await program.call("POST", "/api/backups", { token })).body.id
}

const placeOf = (): Place => ({
  org_name: limits.org,
  project_name: "web",
  env_name: "full",
  key: fullKeys[0],
  user_id: limits.members[0]!,
  rule_id: limits.rules[0]!,
  sa_id: limits.accounts[0]!,
  session_id: limits.sessions[0]!,
  backup_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
})

const callers = ["root", "ruled", "powerless", "outsider", "anonymous"] as const
type Caller = (typeof callers)[number]

/** Who asks: everybody with a call's first input, and with the others who gets far enough for them to matter. */
const callersOf = (requires: string | undefined, row: Row, inputs: ReadonlyArray<Row>): ReadonlyArray<Caller> => {
  if (requires === "nothing") return ["anonymous"]
  // What uses its own credential up is asked by nobody else.
  if (requires === "credential") return ["root", "anonymous"]
  if (row === inputs[0]) return long ? callers : ["root", "powerless", "anonymous"]
  if (!long) return ["root"]
  return inputs.includes(row) ? ["root", "ruled", "powerless"] : ["root", "powerless"]
}

const credentialOf = (caller: Caller) =>
  caller === "anonymous"
    ? {}
    : caller === "ruled"
      ? { headers: { "x-api-key": limits.credentials.ruled } }
      : { token: limits.credentials[caller] }

/** Calls once, and waits for what the server does about it afterwards. */
const attempt = async (call: string, caller: Caller, [, ask]: Row): Promise<Stall> => {
  const endpoint = endpoints.find((each) => each.call === call)!
  const { body, place, query, raw, token } = await ask({ limits, attempt: asked++, backup })
  const path = pathOf(endpoint, { ...placeOf(), ...place }) + (query === undefined ? "" : `?${query}`)
  const { calibration } = await look()
  const answer = await program.call(endpoint.method, path, {
    ...credentialOf(caller),
    ...(caller === "root" && token !== undefined && { token }),
    ...(raw !== undefined ? { raw } : { body })
  })
  await sleep(60)
  const { probe } = await look()
  const scale = Math.max(1, calibration / calibrated)
  return { cpu: probe.cpu / scale, wall: probe.wall, status: answer.status }
}

interface Line extends Stall {
  readonly call: string
  readonly input: string
  readonly caller: Caller
}

const table: Array<Line> = []

const measure = async (call: string, caller: Caller, row: Row): Promise<void> => {
  let best: Stall | undefined
  for (let tries = 0; tries < attempts && (best === undefined || best.cpu > budget * tolerance); tries++) {
    const stall = await attempt(call, caller, row)
    if (best === undefined || stall.cpu < best.cpu) best = stall
  }
  if (best !== undefined) table.push({ call, input: row[0], caller, ...best })
}

afterAll(() => {
  process.stdout.write(`${["ms", "wall", "status", "caller", "call", "input"].join("\t")}\n`)
  for (const { call, caller, cpu, input, status, wall } of table.toSorted((a, b) => b.cpu - a.cpu)) {
    process.stdout.write(`${[cpu.toFixed(0), wall.toFixed(0), status, caller, call, input].join("\t")}\n`)
  }
  cleanUp()
})

describe("no call holds the event loop for longer than its budget", () => {
  it("has a row for each call of the contract, and no other", () => {
    assert.deepStrictEqual(Object.keys(rows).sort(), endpoints.map(({ call }) => call).sort())
  })

  for (const { call, requires } of endpoints.filter(({ call }) => long || inShort.has(call))) {
    it(
      call,
      async () => {
        const inputs = rows[call] ?? []
        const limit = limitsOfBodies.get(call)
        const bodies = limit === undefined ? [] : malicious(limit)
        for (const row of [...inputs, ...bodies]) {
          for (const caller of callersOf(requires, row, inputs)) await measure(call, caller, row)
        }
        const over = table.filter((line) => line.call === call && line.cpu > (known[call] ?? budget) * tolerance)
        assert.deepStrictEqual(over, [])
      },
      600_000
    )
  }
})
