import { setTimeout } from "node:timers/promises"
import { assert } from "vitest"
import type { Json, Program } from "../../support/Program.js"
import { type BundleRead, checkBundles, checkHistory, type Operation } from "./History.js"
import { versionsOf } from "./Versions.js"
import { isSoak } from "../../../../domain/test/support/Runs.js"

const env = "/api/orgs/acme/projects/webshop/envs/prod"
const keys = ["A", "B", "C", "D", "E"]

/** The longest time that a request may take when the database is lost, in milliseconds: five seconds on an idle machine. */
const refusalMillis = isSoak ? 5_500 : 15_000
/** How long a client pauses after a call. Without a pause, the load takes the whole machine from the other tests. */
const pauseMillis = isSoak ? 0 : 30
/** How long a client waits for a server that is frozen. */
const patienceMillis = 8_000

/** Makes the organization of the load; answers a session's token. */
export const prepare = async (server: Program): Promise<string> => {
  const token = await server.login("ada@example.com")
  for (const [path, name] of [
    ["/api/orgs", "acme"],
    ["/api/orgs/acme/projects", "webshop"]
  ] as const) {
    const answer = await server.call("POST", path, { token, body: { name } })
    assert.strictEqual(answer.status, 201, answer.text)
  }
  return token
}

const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(Math.random() * all.length)]!

/** Writers and readers of a few secrets, each call to any of the servers. Remembers every call and what was answered. */
export class Load {
  readonly operations: Array<Operation> = []
  readonly bundles: Array<BundleRead> = []
  #values = 0
  #isRunning = true
  #running: Promise<unknown> = Promise.resolve()

  constructor(
    readonly servers: ReadonlyArray<{ readonly url: string }>,
    readonly token: string
  ) {}

  async #ask(
    { url }: { readonly url: string },
    path: string,
    value: string | null = null
  ): Promise<{ readonly status: number; readonly body: Json; readonly etag: string }> {
    try {
      const response = await fetch(`${url}${env}/${path}`, {
        method: value === null ? "GET" : "PUT",
        headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
        body: value === null ? null : JSON.stringify({ value }),
        signal: AbortSignal.timeout(patienceMillis)
      })
      return { status: response.status, body: await response.json(), etag: response.headers.get("etag") ?? "" }
    } catch {
      return { status: 0, body: {}, etag: "" }
    }
  }

  /** Reads the whole environment, and remembers what was answered. */
  async #readAll(server: { readonly url: string }): Promise<void> {
    const start = performance.now()
    const { body, etag, status } = await this.#ask(server, "bundle")
    if (status !== 200) return
    const { data, revision } = body as Pick<BundleRead, "data" | "revision">
    this.bundles.push({ start, end: performance.now(), etag, data, revision })
  }

  /** One call; `refused` tells the code of a 503. */
  async step(server: { readonly url: string }, key: string, isWrite: boolean): Promise<Operation["outcome"]> {
    const value = isWrite ? `${key} ${++this.#values}` : null
    const start = performance.now()
    const { body, status } = await this.#ask(server, `secrets/${key}`, value)
    const end = performance.now()
    const code: unknown = body.error?.code
    const operation = { kind: isWrite ? "write" : "read", key, start, end } as const
    const record = (outcome: Operation["outcome"], rest: { value: string; version: number }) => {
      this.operations.push({ ...operation, outcome, ...rest })
      return outcome
    }
    if (status === 200 || status === 201) {
      return record("done", { value: value ?? body.value, version: body.version })
    }
    const rest = { value: value ?? "", version: 0 }
    if (status === 0 || (status === 503 && code === "OUTCOME_UNKNOWN")) return record("unknown", rest)
    if (status === 404 && !isWrite) return "done"
    assert.strictEqual(status, 503, JSON.stringify(body))
    assert.oneOf(code, ["DATABASE_UNAVAILABLE", "OVERLOADED"], JSON.stringify(body))
    if (code === "DATABASE_UNAVAILABLE")
      assert.isBelow(end - start, refusalMillis, "a refusal comes within five seconds")
    return record("refused", rest)
  }

  /** Starts some clients of each server, so that one server that hangs does not hold up the others' clients. */
  start(clients = 3): void {
    this.#running = Promise.all(
      Array.from({ length: clients * this.servers.length }, async (_, index) => {
        const server = this.servers[index % this.servers.length]!
        while (this.#isRunning) {
          const outcome = await this.step(server, pick(keys), Math.random() < 0.6)
          if (outcome !== "done") await setTimeout(20)
          else if (Math.random() < 0.1) await this.#readAll(server)
          if (pauseMillis > 0) await setTimeout(pauseMillis)
        }
      })
    )
    // Reported by `stop`.
    this.#running.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await this.#running
  }

  count(outcome: Operation["outcome"]): number {
    return this.operations.filter((operation) => operation.outcome === outcome).length
  }

  /** Milliseconds until a write succeeds on each server. */
  async recovery(): Promise<number> {
    const start = performance.now()
    await Promise.all(
      this.servers.map(async (server, index) => {
        while ((await this.step(server, `R${index}`, true)) !== "done") await setTimeout(50)
      })
    )
    return performance.now() - start
  }

  /** Holds all that was answered against what the database has at the end: values, versions and the audit log. */
  async check(server: Program, database: string): Promise<void> {
    const found = await versionsOf(database)
    checkHistory(this.operations, found)
    checkBundles(this.bundles, this.operations, found)
    const { token } = this
    const total = [...found.values()].reduce((sum, values) => sum + values.length, 0)
    const entries = async (): Promise<number> =>
      (await server.call("GET", "/api/orgs/acme/audit-logs?action=secret.set&limit=1", { token })).body.pagination.total
    // An entry that cannot be written with its change is written soon after.
    for (let tries = 0; tries < 100 && (await entries()) < total; tries++) await setTimeout(100)
    assert.strictEqual(await entries(), total, "each version has one audit entry")
    const verified = await server.call("GET", "/api/orgs/acme/audit-logs/verify", { token })
    assert.isTrue(verified.body.valid, verified.text)
  }
}

/**
 * Runs a load on servers of a database while something happens. At the end nothing acknowledged is lost, nothing refused is
 * there, every read fits, each version has one audit entry, and the chain of entries is whole. The servers are removed.
 */
export const underLoad = async (
  servers: ReadonlyArray<Program>,
  database: () => string,
  meanwhile: (load: Load) => Promise<void>
): Promise<Load> => {
  const [first] = servers
  assert.isDefined(first)
  const load = new Load(servers, await prepare(first))
  load.start()
  await setTimeout(500)
  await meanwhile(load)
  await setTimeout(500)
  await load.stop()
  await load.check(first, database())
  assert.isAbove(load.count("done"), 20)
  await Promise.all(servers.map((server) => server.remove()))
  return load
}
