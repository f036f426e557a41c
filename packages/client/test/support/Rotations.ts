import { setTimeout } from "node:timers/promises"
import { Pool } from "pg"
import { assert, beforeAll, it } from "vitest"
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
const load = ({ request }: Shop) => {
  let isOver = false
  let phase = { done: 0, failed: 0 }
  const counts = new Map([["steady", phase]])
  let user = ""
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const counted = phase
      await request().then(
        (name) => {
          user = name
          counted.done += 1
        },
        () => (counted.failed += 1)
      )
      await setTimeout(2)
    }
  })
  return {
    counts,
    begin: (name: string) => {
      phase = { done: 0, failed: 0 }
      counts.set(name, phase)
    },
    /** Waits until requests run as a user. */
    runsAs: async (name: string) => {
      for (let tries = 0; user !== name; tries++) {
        assert.isBelow(tries, 12_000, `no request ran as ${name}`)
        await setTimeout(10)
      }
    },
    end: async () => {
      isOver = true
      await Promise.all(clients)
    }
  }
}

/** Rotations, wrong ones, a server that is killed, and a key that is revoked: no request may fail. */
export const rotations = (face: string, start: (options: ShopOptions) => Promise<Shop>) => {
  const place = testPlace()
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
