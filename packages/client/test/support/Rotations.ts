import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import { Pool } from "pg"
import { assert, beforeAll, it, onTestFinished } from "vitest"
import { renewedDatabase, renewerPassword } from "../../../server/test/support/postgres/RenewedDatabase.js"
import { type Account, testPlace } from "./Place.js"
import { database } from "./Postgres.js"

/** An application that serves its requests with the newest pool of connections. */
export interface Shop {
  /** A request: the user of the database that it ran as. */
  readonly request: () => Promise<string>
  readonly close: () => Promise<void>
}

export interface ShopOptions {
  readonly server: string
  readonly place: string
  readonly apiKey: string
  readonly warn: (warning: string) => void
}

/** Opens a pool that renews its connections all the time. Fails if the address is wrong. */
export const openPool = async (connectionString: string): Promise<Pool> => {
  const pool = new Pool({ connectionString, max: 4, maxUses: 20 })
  pool.on("error", () => undefined)
  try {
    await pool.query("SELECT 1")
    return pool
  } catch (error) {
    await pool.end()
    throw error
  }
}

export const ask = async (pool: Pool): Promise<string> =>
  (await pool.query<{ name: string }>("SELECT current_user AS name")).rows[0]?.name ?? ""

/** Requests without an end, from several clients at once. */
const load = ({ request }: Shop, count = 4) => {
  let isOver = false
  let phase = { done: 0, failed: 0 }
  const counts = new Map([["steady", phase]])
  /** The user as whom each client ran last. */
  const users = Array.from({ length: count }, () => "")
  const problems: Array<string> = []
  const runAs = async (name: string, isSo: () => boolean) => {
    for (let tries = 0; !isSo(); tries++) {
      assert.isBelow(tries, 12_000, `no request ran as ${name}`)
      await setTimeout(10)
    }
  }
  const clients = users.map(async (_none, index) => {
    while (!isOver) {
      const counted = phase
      await request().then(
        (name) => {
          users[index] = name
          counted.done += 1
        },
        (error: unknown) => {
          counted.failed += 1
          problems.push(String(error))
        }
      )
      await setTimeout(count / 2)
    }
  })
  return {
    counts,
    problems,
    begin: (name: string) => {
      phase = { done: 0, failed: 0 }
      counts.set(name, phase)
    },
    /** Waits until requests run as a user. */
    runsAs: (name: string) => runAs(name, () => users.includes(name)),
    /** Waits until each client runs its requests as a user: none runs with an older pool then. */
    allRunAs: (name: string) => runAs(name, () => users.every((user) => user === name)),
    end: async () => {
      isOver = true
      await Promise.all(clients)
    }
  }
}

/** Rotations, wrong ones, a server that is killed, and a key that is revoked: no request may fail. */
export const rotations = (face: string, start: (options: ShopOptions) => Promise<Shop>) => {
  const place = testPlace(() => ({ SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" }))
  const db = database()
  let account: Account

  beforeAll(async () => {
    account = await place.account("shop", "app")
    await db.run("CREATE ROLE shop1 LOGIN PASSWORD 'one'")
    await place.environment("app", { DATABASE_URL: db.url("shop1", "one") })
  })

  const write = (user: string, password: string) =>
    place.write("app", { set: { DATABASE_URL: db.url(user, password) } })
  const user = (name: string, password: string) => db.run(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`)

  it(`fails no request of 50 clients of ${face} through ten turns of a rotation`, { timeout: 200_000 }, async () => {
    const scope = Effect.runSync(Scope.make())
    const folder = mkdtempSync(join(tmpdir(), "coffer-turns-"))
    onTestFinished(async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      rmSync(folder, { recursive: true })
    })
    const { ca, port } = await Effect.runPromise(Scope.extend(renewedDatabase, scope))
    const file = join(folder, "ca.pem")
    writeFileSync(file, ca)
    const url = (user: string, password: string) =>
      `postgres://${user}:${password}@localhost:${port}/postgres?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`
    const { apiKey } = await place.account("turning", "turns")
    await place.environment("turns", { RENEWER: renewerPassword, DATABASE_URL: url("app_a", "first-a") })
    const post = (path: string, body: object) =>
      place.server.call("POST", `/api/orgs/acme/projects/webshop/envs/turns${path}`, { body, token: place.home.token })
    await post("/connections", {
      ...{ name: "db", host: "127.0.0.1", port, database: "postgres", tls: "verify-ca", ca },
      ...{ user: "renewer", password_key: "RENEWER" }
    })
    const writes = { DATABASE_URL: url("{user}", "{password}") }
    await post("/rotations", { name: "shop", connection: "db", users: ["app_a", "app_b"], writes })

    const shop = await start({ server: place.bridge.url, place: "acme/webshop/turns", apiKey, warn: () => undefined })
    const { allRunAs, begin, counts, end, problems } = load(shop, 50)
    await allRunAs("app_a")
    begin("ten turns")
    for (let turn = 1; turn <= 10; turn++) {
      await post("/rotations/shop/run", {})
      // The next turn ends what requests could still connect with that began with the old pool.
      await allRunAs(turn % 2 === 1 ? "app_b" : "app_a")
    }
    await end()
    await shop.close()
    const { done = 0, failed } = counts.get("ten turns") ?? {}
    process.stdout.write(`${face}: ${failed} of ${done} queries of 50 clients failed through ten turns\n`)
    assert.deepStrictEqual(problems.slice(0, 3), [])
    assert.isAbove(done, 500)
  })

  it(`fails no request of ${face}`, { timeout: 300_000 }, async () => {
    const warnings: Array<string> = []
    const shop = await start({
      server: place.bridge.url,
      place: "acme/webshop/app",
      apiKey: account.apiKey,
      warn: (warning) => warnings.push(warning)
    })
    const { begin, counts, end, runsAs } = load(shop)
    await runsAs("shop1")
    begin("a rotation")
    await user("shop2", "canary-two")
    await write("shop2", "canary-two")
    await runsAs("shop2")
    // Requests that run with the old pool may still connect as its user.
    await setTimeout(2_000)
    await db.run("ALTER ROLE shop1 NOLOGIN")
    begin("a wrong rotation")
    await write("shop3", "canary-wrong")
    await setTimeout(4_000)
    begin("its correction")
    await user("shop3", "canary-three")
    await write("shop3", "canary-three")
    await runsAs("shop3")
    begin("a secret before its user")
    await write("shop4", "canary-four")
    await setTimeout(1_000)
    await user("shop4", "canary-four")
    await runsAs("shop4")
    begin("the server is killed")
    await place.server.kill()
    await setTimeout(2_000)
    await place.server.restart()
    begin("a rotation after the kill")
    await user("shop5", "canary-five")
    await write("shop5", "canary-five")
    await runsAs("shop5")
    begin("the key is revoked")
    await place.ok("service-account", "revoke", account.id, "--yes")
    await setTimeout(2_000)
    await end()
    await shop.close()
    const figures = [...counts].map(([phase, { done, failed }]) => `${phase}: ${failed} of ${done + failed}`)
    process.stdout.write(`${face}: ${figures.join("; ")}\n`)
    for (const [phase, { done, failed }] of counts) {
      assert.strictEqual(failed, 0, phase)
      assert.isAbove(done, 0, phase)
    }
    assert.isAbove(warnings.length, 0)
    for (const warning of warnings) assert.notInclude(warning, "canary")
  })
}
