import { fileURLToPath } from "node:url"
import { bodyLimitOf } from "@coffer/domain/api/Requirement"
import { Api } from "@coffer/domain/Api"
import { HttpApi } from "@effect/platform"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { closeSync, copyFileSync, fsyncSync, openSync, rmSync } from "node:fs"
import Sqlite from "better-sqlite3"
import { endpoints, type Place, pathOf } from "../authorization/Contract.js"
import { freshSettings } from "../backups/Endpoint.js"
import { publicUrl } from "../federations/Signer.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"
import { masterKey } from "../support/Services.js"
import { type DoorRow, doors, rowsOf } from "./Doors.js"
import { measuredJobs } from "./Jobs.js"
import { fill, fullKeys, type Limits, superadmin } from "./Limits.js"
import { malicious, type Row, rows } from "./Rows.js"
import { fewRows, indexRows, manyRows, refused } from "./Transactions.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

// No request holds the event loop for longer than this, in milliseconds, on a machine on which the calibration takes as long as
// on the one that the limit is for.
//
// The measure is the processor time of the server's main thread in one turn of its event loop: other programs on the machine
// make a turn last longer, but add no work to it. Shared caches and cores also slow the work down. So a fixed piece of work
// is measured in the same process right before, and the limit grows with its time. A request that is over the limit is tried
// again: a pause of the garbage collector is over it now and then, and a request that computes too much always is.
const budget = 50
const calibrated = 20
const attempts = 4
/** A regression is caught, and a machine that is busy with other tests is none. */
const tolerance = isSoak ? 1 : 2

/** Calls that are over the budget still, and what they may take. */
const known: Readonly<Record<string, number>> = {}

/** The calls that get what an attacker sends: one for each size of a body. One reader of bodies serves all calls. */
const attacked: ReadonlySet<string> = new Set(
  isSoak ? endpoints.map(({ call }) => call) : ["POST /api/auth/login", "POST /api/orgs"]
)

/** The calls that take seconds each, which the long form measures. */
const slow: ReadonlySet<string> = new Set([
  "GET /api/orgs/:org_name/audit-logs/verify",
  "GET /api/audit-logs/verify",
  "POST /api/backups",
  "POST /api/backups/:backup_id/restore",
  "POST /api/backups/drill"
])

const probe = fileURLToPath(new URL("Probe.mjs", import.meta.url))

/** The most that a call reads of a body, in bytes; none where it reads no body. */
const limitsOfBodies = new Map<string, number>()
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, mergedAnnotations }) => {
    const limit = bodyLimitOf(endpoint, mergedAnnotations)
    if (limit !== null) limitsOfBodies.set(`${endpoint.method} ${endpoint.path}`, limit)
  }
})

const settings = () => ({
  ...freshSettings(),
  SERVICE_MASTER_KEY: masterKey,
  SUPERADMIN_EMAIL_0: superadmin,
  SERVICE_PUBLIC_URL: publicUrl,
  SERVICE_BROKER: "1",
  SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8",
  SERVICE_SCIM_DOMAINS: "example.com",
  NODE_OPTIONS: `--import ${probe}`
})

let program: Program
let limits: Limits
/** Where the filled database is kept as it was. */
const filled = freshFolder()
let asked = 0

beforeAll(async () => {
  const folder = freshFolder()
  limits = await fill(`${folder}/service.db`)
  copyFileSync(`${folder}/service.db`, `${filled}/service.db`)
  program = await Program.start(settings(), folder)
}, 300_000)

interface Stall {
  /** As on the machine that the limit is for. */
  readonly cpu: number
  /** As it was measured. */
  readonly raw: number
  readonly wall: number
  /** The rows that the largest transaction changed. */
  readonly rows: number
  /** The same for a transaction of the search index of the audit logs. */
  readonly index: number
  readonly status: number
}

/** Sends a signal to the probe, and returns what it prints. */
const signalled = async (program: Program, signal: NodeJS.Signals, line: RegExp): Promise<unknown> => {
  const before = program.log.match(new RegExp(line, "gm"))?.length ?? 0
  program.signal(signal)
  const [text] = await program.said(line, before + 1)
  return JSON.parse(text)
}

/** Begins to measure; answers what the calibration takes now. */
const begin = async (program: Program): Promise<number> => {
  const { calibration } = (await signalled(program, "SIGUSR2", /^\{"calibration".*\}$/m)) as {
    readonly calibration: number
  }
  return calibration
}

/** The longest turn since the measurement began. */
const end = async (program: Program): Promise<Pick<Stall, "cpu" | "wall" | "rows" | "index">> => {
  const { longest } = (await signalled(program, "SIGURG", /^\{"longest".*\}$/m)) as {
    readonly longest: Pick<Stall, "cpu" | "wall" | "rows" | "index">
  }
  return longest
}

/** Returns the time of a turn on the machine that the limit is for. */
const scaled = (millis: number, calibration: number) => millis / Math.max(1, calibration / calibrated)

/** Copies a file to the disk itself: the server's first flush would else write all of it. */
const copyToDisk = (from: string, to: string): void => {
  copyFileSync(from, to)
  const file = openSync(to, "r+")
  fsyncSync(file)
  closeSync(file)
}

/** Makes what a request is about. */
const callAsRoot = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {}
): Promise<Json> => {
  const answer = await program.call(method, path, {
    token: limits.proven,
    headers,
    ...(body !== undefined && { body })
  })
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text.slice(0, 500)}`)
  return answer.body
}

const placeOf = (): Place => ({
  org_name: limits.org,
  project_name: "web",
  env_name: "full",
  key: fullKeys[0],
  user_id: limits.members[0]!,
  rule_id: limits.rules[0]!,
  sa_id: limits.keptAccount,
  group_name: limits.groups[0]!,
  federation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  webhook_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  delivery_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  use_rule_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  connection_name: "shop-db",
  rotation_name: "shop-app",
  role_name: "shop-role",
  lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
  target_name: "target",
  approval_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  request_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  session_id: limits.sessions[0]!,
  delegation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  passkey_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  export_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  import_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  removed_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
  backup_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
})

const callers = ["root", "ruled", "powerless", "outsider", "anonymous"] as const
type Caller = (typeof callers)[number]

/** Returns the callers of a row: all for a call's first input; for the others, those that get far enough to matter. */
const callersOf = (requires: string | undefined, row: Row, inputs: ReadonlyArray<Row>): ReadonlyArray<Caller> => {
  if (requires === "nothing") return ["anonymous"]
  // A call that uses up its own credential has no other caller with one.
  if (requires === "credential" || requires === "person") return ["root", "anonymous"]
  if (row === inputs[0]) return isSoak ? callers : ["root", "powerless"]
  if (!isSoak) return ["root"]
  return inputs.includes(row) ? ["root", "ruled", "powerless"] : ["root", "powerless"]
}

const credentialOf = (caller: Caller) =>
  caller === "anonymous"
    ? {}
    : caller === "ruled"
      ? { headers: { "x-api-key": limits.credentials.ruled } }
      : { token: limits.credentials[caller] }

/** Refused because what was asked before still goes on, such as the erasure of values. */
const busy = 503
/** How often a call that is refused so is tried again, and how many seconds a pause lasts at most. */
const patience = 60

/** Calls once, and waits for what the server does about it afterwards. */
const attempt = async (call: string, caller: Caller, [, ask]: Row): Promise<Stall> => {
  const endpoint = endpoints.find((each) => each.call === call)!
  const { body, headers, place, query, raw, token } = await ask({ limits, attempt: asked++, call: callAsRoot })
  const path = pathOf(endpoint, { ...placeOf(), ...place }) + (query === undefined ? "" : `?${query}`)
  const calibration = await begin(program)
  const credential: { readonly headers?: Readonly<Record<string, string>> } = credentialOf(caller)
  const answer = await program.call(endpoint.method, path, {
    ...credential,
    ...(caller === "root" && token !== undefined && { token }),
    ...(headers !== undefined && { headers: { ...credential.headers, ...headers } }),
    ...(raw !== undefined ? { raw } : { body })
  })
  await sleep(60)
  const longest = await end(program)
  return { ...longest, cpu: scaled(longest.cpu, calibration), raw: longest.cpu, status: answer.status }
}

/** The same at a door beside the contract, as an agent and as a stranger. */
const knock = async (door: string, { path, raw, type }: DoorRow, headers: Readonly<Record<string, string>>) => {
  const [method = ""] = door.split(" ")
  const calibration = await begin(program)
  const answer = await program.call(method, path, {
    headers: { accept: "text/html, application/json, text/event-stream", "content-type": type, ...headers },
    ...(raw !== undefined && { raw })
  })
  await sleep(60)
  const longest = await end(program)
  return { ...longest, cpu: scaled(longest.cpu, calibration), raw: longest.cpu, status: answer.status }
}

interface Line extends Stall {
  readonly call: string
  readonly input: string
  readonly caller: Caller | ""
}

const table: Array<Line> = []

/** Waits until no earlier request goes on: the erasure of values, for one, in steps of some hundred rows. */
const quiet = async (): Promise<void> => {
  for (let tries = 0; tries < patience; tries++) {
    await begin(program)
    await sleep(1_000)
    if ((await end(program)).rows === 0) return
  }
}

const isOver = ({ cpu, rows }: Stall, most: number): boolean => cpu > budget * tolerance || rows > most

/** The lesser figures of two tries: in one of them, another request may have gone on. */
const lesserOf = (one: Stall, other: Stall): Stall => ({
  ...one,
  cpu: Math.min(one.cpu, other.cpu),
  rows: Math.min(one.rows, other.rows)
})

const measure = async (call: string, caller: Caller, row: Row): Promise<void> => {
  let best: Stall | undefined
  const most = manyRows[call] ?? fewRows
  let refusals = 0
  for (let tries = 0; tries < attempts && (best === undefined || isOver(best, most)); tries++) {
    const stall = await attempt(call, caller, row)
    if (stall.rows > most || stall.status === busy) await quiet()
    if (stall.status === busy && ++refusals < patience) {
      tries--
      continue
    }
    if (best === undefined) best = stall
    else if (stall.status === best.status) best = lesserOf(best, stall)
  }
  if (best !== undefined) table.push({ call, input: row[0], caller, ...best })
}

afterAll(() => {
  process.stdout.write(
    `${["ms", "unscaled", "wall", "rows", "index", "status", "caller", "call", "input"].join("\t")}\n`
  )
  for (const { call, caller, cpu, index, input, raw, rows, status, wall } of table.toSorted((a, b) => b.cpu - a.cpu)) {
    process.stdout.write(
      `${[cpu.toFixed(0), raw.toFixed(0), wall.toFixed(0), rows, index, status, caller, call, input].join("\t")}\n`
    )
  }
  cleanUp()
})

describe("no call holds the event loop for longer than its budget, or changes more rows in a transaction", () => {
  for (const { call, requires } of endpoints) {
    it.skipIf(slow.has(call) && !isSoak)(
      call,
      async () => {
        const inputs = rows[call] ?? []
        const limit = limitsOfBodies.get(call)
        const bodies = limit === undefined || !attacked.has(call) ? [] : malicious(limit)
        for (const row of [...inputs, ...bodies]) {
          for (const caller of callersOf(requires, row, inputs)) await measure(call, caller, row)
        }
        const over = table.filter((line) => line.call === call && line.cpu > (known[call] ?? budget) * tolerance)
        assert.deepStrictEqual(over, [])
        const large = table.filter((line) => line.call === call && line.rows > (manyRows[call] ?? fewRows))
        assert.deepStrictEqual(large, [], "a transaction changes more rows than test/stall/Transactions.ts allows")
        const statuses = table.flatMap((line) => (line.call === call ? [line.status] : []))
        assert.strictEqual(
          statuses.every((status) => status >= 400),
          call in refused,
          `only calls of this list are measured by refusals alone, and this one was answered with ${statuses.join()}`
        )
        assert.isAtMost(Math.max(...table.map(({ index }) => index)), indexRows, "in one batch of the search index")
      },
      600_000
    )
  }

  for (const door of Object.keys(doors)) {
    it(
      door,
      async () => {
        const lines: Array<Line> = []
        for (const row of rowsOf(door, limits)) {
          for (const caller of ["ruled", "anonymous"] as const) {
            const headers = caller === "ruled" ? { "x-api-key": limits.credentials.ruled } : {}
            let best: Stall | undefined
            for (let tries = 0; tries < attempts && (best === undefined || isOver(best, fewRows)); tries++) {
              const stall = await knock(door, row, headers)
              if (stall.rows > fewRows) await quiet()
              best = best === undefined ? stall : lesserOf(best, stall)
            }
            if (best !== undefined) lines.push({ call: door, input: row.input, caller, ...best })
          }
        }
        table.push(...lines)
        assert.deepStrictEqual(
          lines.filter((line) => isOver(line, fewRows)),
          []
        )
        assert.isTrue(
          lines.some(({ status }) => status < 400 || door === "POST /oauth/token"),
          "measured by more than refusals"
        )
      },
      600_000
    )
  }

  for (const [name, job] of Object.entries(measuredJobs())) {
    it.runIf(isSoak)(name, async () => {
      let best: Line | undefined
      for (let tries = 0; tries < attempts && (best === undefined || best.cpu > budget * tolerance); tries++) {
        const folder = freshFolder()
        copyToDisk(`${filled}/service.db`, `${folder}/service.db`)
        if (job.sql !== undefined) {
          const database = new Sqlite(`${folder}/service.db`)
          database.exec(job.sql)
          database.close()
        }
        const own = await Program.start({ ...settings(), ...job.variables }, folder)
        await job.begin?.(own)
        const calibration = await begin(own)
        await job.end(own, limits)
        const longest = await end(own)
        await own.stop("SIGKILL")
        rmSync(folder, { recursive: true })
        const line: Line = {
          ...longest,
          cpu: scaled(longest.cpu, calibration),
          raw: longest.cpu,
          status: 0,
          call: name,
          input: "",
          caller: ""
        }
        if (best === undefined || line.cpu < best.cpu) best = line
      }
      if (best !== undefined) table.push(best)
      assert.isAtMost(best?.cpu ?? 0, budget * tolerance)
    })
  }
})
