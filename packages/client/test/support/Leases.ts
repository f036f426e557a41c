import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import Sqlite from "better-sqlite3"
import { Effect, Exit, Scope } from "effect"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, it } from "vitest"
import {
  renewedDatabase,
  type RenewedDatabase,
  renewerPassword
} from "../../../server/test/support/postgres/RenewedDatabase.js"
import { type Account, testPlace } from "./Place.js"

/** An application whose requests log in to the database as the user that was leased last. */
export interface Shop {
  /** A request: the user of the database that it ran as. */
  readonly request: () => Promise<string>
  readonly close: () => Promise<void>
}

export interface LeaseShopOptions {
  readonly server: string
  readonly place: string
  readonly apiKey: string
  /** Opens a pool as a user. Fails if the user cannot log in. */
  readonly openPool: (user: string, password: string) => Promise<Pool>
}

const clients = 50
const leases = 11

/** Ten ends of leases under load: no query may fail. */
export const leaseEnds = (face: string, start: (options: LeaseShopOptions) => Promise<Shop>) => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-leases-"))
  const file = join(folder, "service.db")
  const place = testPlace(() => ({ SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8", SERVICE_DB_PATH: file }))
  const scope = Effect.runSync(Scope.make())
  let database: RenewedDatabase
  let account: Account

  beforeAll(async () => {
    database = await Effect.runPromise(Scope.extend(renewedDatabase, scope))
    await database.query("GRANT ALL ON SCHEMA public TO renewer WITH GRANT OPTION")
    account = await place.account("shop", "app")
    await place.environment("app", { RENEWER: renewerPassword })
    const call = (path: string, body: object) =>
      place.server.call("POST", `/api/orgs/acme/projects/webshop/envs/app${path}`, { body, token: place.home.token })
    await call("/connections", {
      ...{ name: "db", host: "127.0.0.1", port: database.port, database: "postgres", tls: "verify-ca" },
      ...{ ca: database.ca, user: "renewer", password_key: "RENEWER" }
    })
    await call("/roles", { name: "app-role", connection: "db", default_ttl: "1m", max_ttl: "1m" })
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  })

  const users = async () =>
    (await database.query("SELECT rolname FROM pg_roles WHERE rolname LIKE 'coffer\\_%'")).length

  it(`fail no query of ${clients} clients of ${face}`, { timeout: 290_000 }, async () => {
    // The contract allows no lease of less than a minute: ten of them would take ten.
    const sqlite = new Sqlite(file, { timeout: 5_000 })
    sqlite.exec("UPDATE lease_roles SET default_ttl = '20s', max_ttl = '20s'")
    sqlite.close()
    const shop = await start({
      ...{ server: place.bridge.url, place: "acme/webshop/app", apiKey: account.apiKey },
      openPool: async (user, password) => {
        const pool = new Pool({
          ...{ host: "127.0.0.1", port: database.port, database: "postgres", user, password, max: 10, maxUses: 20 },
          ssl: { ca: database.ca, servername: "localhost" }
        })
        pool.on("error", () => undefined)
        try {
          await pool.query("SELECT 1")
          return pool
        } catch (error) {
          await pool.end()
          throw error
        }
      }
    })
    const seen = new Map<string, number>()
    const failures: Array<string> = []
    let isOver = false
    const load = Array.from({ length: clients }, async () => {
      while (!isOver) {
        await shop.request().then(
          (user) => seen.set(user, (seen.get(user) ?? 0) + 1),
          (error: unknown) => failures.push(String(error))
        )
        await setTimeout(20)
      }
    })
    for (let tries = 0; seen.size < leases && tries < 2_600 && failures.length === 0; tries++) await setTimeout(100)
    isOver = true
    await Promise.all(load)
    await shop.close()
    const queries = [...seen.values()].reduce((sum, count) => sum + count, 0)
    process.stdout.write(`${face}: ${failures.length} of ${queries} queries failed, by ${seen.size} users in turn\n`)
    assert.deepStrictEqual(failures.slice(0, 3), [])
    assert.isAtLeast(seen.size, leases)
    for (let tries = 0; (await users()) > 0; tries++) {
      assert.isBelow(tries, 300, "users are left")
      await setTimeout(100)
    }
  })
}
