import { afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { until } from "../../../cli/test/support/Programs.js"
import { type Account, testPlace } from "../support/Place.js"
import { database } from "../support/Postgres.js"

const place = testPlace()
const db = database()
let account: Account

beforeAll(async () => {
  account = await place.account("shop", "app")
  await db.run("CREATE ROLE shop LOGIN PASSWORD 'one'")
  await place.environment("app", { DB_PASSWORD: "one", DATABASE_URL: db.url("shop", "one") })
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const stub = () => {
  const variables = {
    ...{ SERVICE_API_KEY: account.apiKey, SERVICE_SERVER_URL: place.bridge.url, COFFER_PLACE: "acme/webshop/app" },
    ...{ PGHOST: "127.0.0.1", PGPORT: String(db.port), PGUSER: "shop", PGDATABASE: "postgres" }
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

describe("the pools of the examples", () => {
  it("take a new password for new connections, without a restart", { timeout: 120_000 }, async () => {
    stub()
    const { coffer, pool } = await import("../../examples/promise/password.js")
    pool.on("error", () => undefined)
    const user = async () => (await pool.query<{ name: string }>("SELECT current_user AS name")).rows[0]?.name
    assert.strictEqual(await user(), "shop")
    await db.run("ALTER ROLE shop PASSWORD 'two'")
    await place.write("app", { set: { DB_PASSWORD: "two" } })
    await coffer.refresh()
    await db.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
    await until(() => (pool.totalCount === 0 ? true : undefined), "the end of the old connection")
    assert.strictEqual(await user(), "shop")
    await pool.end()
    await coffer.close()
    await db.run("ALTER ROLE shop PASSWORD 'one'")
  })

  it("keep the one that works while the new address is wrong", { timeout: 120_000 }, async () => {
    stub()
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined)
    const { coffer, now, pool } = await import("../../examples/promise/pool.js")
    const user = async () => (await now()).rows[0]?.name
    assert.strictEqual(await user(), "shop")
    await place.write("app", { set: { DATABASE_URL: db.url("shop", "canary") } })
    await coffer.refresh()
    await until(() => (warned.mock.calls.length > 0 ? true : undefined), "a warning")
    assert.strictEqual(
      warned.mock.calls[0]?.[0],
      "the resource of DATABASE_URL could not be opened again, so the old one stays: DatabaseError 28P01"
    )
    assert.strictEqual(await user(), "shop")
    await db.run("CREATE ROLE next LOGIN PASSWORD 'three'")
    await place.write("app", { set: { DATABASE_URL: db.url("next", "three") } })
    const old = pool.current
    await coffer.refresh()
    await until(() => (pool.current === old ? undefined : true), "the new pool")
    assert.strictEqual(await user(), "next")
    await until(() => (old.ended ? true : undefined), "the end of the old pool")
    await coffer.close()
    assert.isTrue(pool.current.ended)
    warned.mockRestore()
  })
})
