import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import fc from "fast-check"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { httpDriver, type HttpPerson } from "../model/HttpDriver.js"
import { anyRun, headcount, play, type Run } from "../model/Runs.js"
import { Balancer, type Exchange } from "../support/Balancer.js"
import { copyOfTemplate, drop, invariantsOnServer, serverUrl } from "../support/postgres/Databases.js"
import { freshFolder, masterKey, Program } from "../support/Program.js"
import { Load, prepare } from "./faults/Load.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

/** The rules that explain a decision, in an order of their own: those of one millisecond have the order of their ids. */
const sorted = (text: string): string => {
  const { because, ...rest } = JSON.parse(text)
  return JSON.stringify({ ...rest, because: because?.map((rule: unknown) => JSON.stringify(rule)).sort() })
}

/**
 * Returns an exchange without the values that differ between any two databases: ids, times and keys. The order of refusals
 * in the audit log differs too.
 */
const shown = ({ method, path, status, text }: Exchange): string => {
  const answer = path.includes("/audit-logs") ? "" : path.includes("/acl/explain") ? sorted(text) : text
  return (
    `${method} ${path} ${status} ${answer}`
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replace(/svc_sa_[\w-]+/g, "<key>")
      .replace(/"key_hint":"[^"]+"/g, "<hint>")
      // Of a record with its id.
      .replace(/"etag":"\\"[^"]+\\""/g, "<etag>")
      // Written soon after the use.
      .replace(/"last_used_at":(null|"<time>")/g, "<use>")
  )
}

/** Servers of one database behind a proxy. */
interface Service {
  readonly servers: ReadonlyArray<Program>
  readonly balancer: Balancer
  readonly people: ReadonlyArray<HttpPerson>
  readonly setSuperadmin: (userId: string, on: boolean) => Promise<unknown>
  /** Returns the answers since the last call. */
  readonly answers: () => ReadonlyArray<string>
}

const enroll = async (server: Program, email: string): Promise<HttpPerson> => {
  const token = await server.login(email)
  const { body } = await server.call("GET", "/api/auth/me", { token })
  return { id: body.id, email, credential: { authorization: `Bearer ${token}` } }
}

const serve = async (servers: ReadonlyArray<Program>, setSuperadmin: Service["setSuperadmin"]): Promise<Service> => {
  const answers: Array<string> = []
  const balancer = await Balancer.over(servers, (exchange) => answers.push(shown(exchange)))
  const people: Array<HttpPerson> = []
  for (let n = 0; n <= headcount; n++) people.push(await enroll(servers[n % servers.length]!, `user-${n}@example.com`))
  return { servers, balancer, people, setSuperadmin, answers: () => answers.splice(0) }
}

let name: string
let client: Client
let file: Sqlite.Database
let alone: Service
let replicas: Service

const url = () => `${serverUrl()}/${name}`

beforeAll(async () => {
  name = await Effect.runPromise(copyOfTemplate)
  const folder = freshFolder()
  const path = join(folder, "service.db")
  const [onFile, ...onServer] = await Promise.all([
    Program.start({ SERVICE_DB_PATH: path }, folder),
    ...[1, 2, 3].map(() => Program.start({ SERVICE_DATABASE_URL: url() }))
  ])
  client = new Client({ connectionString: url() })
  await client.connect()
  file = new Sqlite(path)
  alone = await serve([onFile], (userId, on) =>
    Promise.resolve(file.prepare("UPDATE users SET superadmin = ? WHERE id = ?").run(on ? 1 : 0, userId))
  )
  replicas = await serve(onServer, (userId, on) =>
    client.query("UPDATE users SET superadmin = $1 WHERE id = $2", [on ? 1 : 0, userId])
  )
})

afterAll(async () => {
  file.close()
  await client.end()
  for (const { balancer, servers } of [alone, replicas]) {
    balancer.close()
    await Promise.all(servers.map((server) => server.remove()))
  }
  await Effect.runPromise(invariantsOnServer(name, masterKey))
  await Effect.runPromise(drop(name))
})

/** Does a run on one of the services, and returns every answer. */
const answersOf = async (service: Service, number: number, run: Run): Promise<ReadonlyArray<string>> => {
  const { balancer, people, setSuperadmin } = service
  const driver = httpDriver({ url: balancer.url, users: people, setSuperadmin })
  service.answers()
  await Effect.runPromise(play({ run: number, service: driver, persons: people, sample: isSoak ? 1 : 4 }, run))
  return service.answers()
}

describe("three servers on one PostgreSQL, each call to the next of them", () => {
  it("are linearizable for each secret, and no ETag and no revision names two contents", async () => {
    const { balancer, servers } = replicas
    const [first] = servers
    assert.isDefined(first)
    const load = new Load([balancer], await prepare(first))
    load.start(9)
    await setTimeout(isSoak ? 60_000 : 3_000)
    await load.stop()
    assert.isAbove(load.count("done"), 20)
    assert.strictEqual(load.count("done"), load.operations.length)
    assert.isAbove(load.bundles.length, 0)
    await load.check(first, url())
    // Superadmins would see it in the other test.
    await first.call("DELETE", "/api/orgs/acme", { token: load.token })
  })

  it("answer random calls as a plain model says, and word for word as one server with SQLite", async () => {
    let begun = 0
    await fc.assert(
      fc.asyncProperty(anyRun, async (run) => {
        const number = ++begun
        const expected = await answersOf(alone, number, run)
        const answers = await answersOf(replicas, number, run)
        answers.forEach((answer, index) => {
          assert.strictEqual(answer, expected[index])
        })
        assert.strictEqual(answers.length, expected.length)
      }),
      { numRuns: runs(1), endOnFailure: true }
    )
  }, 1_200_000)
})
