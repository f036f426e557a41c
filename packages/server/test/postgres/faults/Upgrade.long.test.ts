import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { newestMigration } from "@coffer/server/database/postgres/Migrations"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Balancer } from "../../support/Balancer.js"
import { patchedModule } from "../../support/ProcessHooks.js"
import { copyOfTemplate, create, drop, invariantsOnServer, serverUrl } from "../../support/postgres/Databases.js"
import { cleanUp, freshFolder, masterKey, Program, unbundled, type Variables } from "../../support/Program.js"
import { Load, prepare } from "./Load.js"
import { isSoak } from "../../../../domain/test/support/Runs.js"

let name: string
let backups: string

const settings = (): Variables => ({
  SERVICE_DATABASE_URL: `${serverUrl()}/${name}`,
  BACKUP_DIR: backups,
  SUPERADMIN_EMAIL_0: "ada@example.com"
})

/** A server of this release. */
const start = () => Program.start(settings())

/** A server of a later release, which has more migrations. */
const startLater = (migrations: Readonly<Record<string, ReadonlyArray<string>>>) =>
  Program.start(
    {
      ...settings(),
      NODE_OPTIONS: patchedModule(
        "/database/postgres/Migrations.js",
        "export const migrations = {",
        `export const migrations = { ...${JSON.stringify(migrations)},`
      )
    },
    freshFolder(),
    unbundled
  )

const next = newestMigration + 1
const last = newestMigration + 2
const expanding = { [`000${next}_notes`]: ["ALTER TABLE projects ADD COLUMN note TEXT"] }
const contracting = { ...expanding, [`000${last}_notes`]: [`UPDATE schema_info SET min_reader = ${next}`] }

const backupBy = async (server: Program, token: string): Promise<number> =>
  (await server.call("POST", "/api/backups", { token })).status

const isReady = async (server: Program): Promise<number> => (await server.call("GET", "/health/ready")).status

beforeAll(async () => {
  name = await Effect.runPromise(copyOfTemplate)
  backups = freshFolder()
})

afterAll(async () => {
  cleanUp()
  await Effect.runPromise(drop(name))
})

/** A built checkout of the release before this one: its servers know less than those of this release. */
const previous = process.env["COFFER_UPGRADE_FROM"]

describe.skipIf(previous === undefined)("servers of the release before and of this one", () => {
  it("serve side by side on one database while one after the other is upgraded, and lose nothing", async () => {
    const empty = await Effect.runPromise(create("template0"))
    const url = `${serverUrl()}/${empty}`
    const startOn = (main?: string) => Program.start({ ...settings(), SERVICE_DATABASE_URL: url }, freshFolder(), main)
    const startOlder = () => startOn(join(previous ?? "", "packages/server/bin/coffer-server.js"))
    const servers = [await startOlder(), await startOlder()]
    const balancer = await Balancer.over(servers)
    const token = await prepare(servers[0]!)
    const load = new Load([balancer], token)
    load.start(6)
    await setTimeout(3_000)
    for (const [index, older] of [...servers].entries()) {
      const later = await startOn()
      assert.strictEqual(later.log.includes("migrated the database"), index === 0, later.log)
      // Both take requests for a while.
      servers.push(later)
      await setTimeout(3_000)
      servers.splice(servers.indexOf(older), 1)
      assert.deepStrictEqual(await older.stop(), { code: 0, signal: null })
      // An older one is not ready, and serves on, once a migration asks for readers that know it.
      assert.strictEqual(await isReady(later), 200)
    }
    await load.stop()
    const lost = load.operations.length - load.count("done")
    process.stdout.write(
      `${load.operations.length} reads and writes and ${load.bundles.length} reads of all while the release was upgraded; ${lost} failed\n`
    )
    await load.check(servers[0]!, url)
    balancer.close()
    for (const server of servers) assert.deepStrictEqual(await server.stop(), { code: 0, signal: null })
    await Effect.runPromise(invariantsOnServer(empty, masterKey))
    await Effect.runPromise(drop(empty))
    // A server of the release before may close a connection that is kept alive while a request arrives.
    assert.isAtMost(lost, 2, `${load.operations.length} operations`)
  })
})

describe("servers of two releases on one database", () => {
  it("serve side by side while one after the other is upgraded, and lose nothing", async () => {
    const servers = await Promise.all(Array.from({ length: isSoak ? 3 : 1 }, start))
    const balancer = await Balancer.over(servers)
    const token = await prepare(servers[0]!)
    const load = new Load([balancer], token)
    load.start(6)

    for (const [index, older] of [...servers].entries()) {
      const later = await startLater(expanding)
      const migrated = `from schema ${newestMigration} to ${next}`
      assert.strictEqual(later.log.includes(migrated), index === 0, later.log)
      assert.deepStrictEqual([await isReady(older), await isReady(later)], [200, 200])
      if (index === 0) {
        // It would lose the new column.
        assert.strictEqual(await backupBy(older, token), 502)
        await older.said(/the backup failed: the column projects.note is in only one.* a newer release/)
      }
      servers[index] = later
      await older.stop()
      await setTimeout(300)
    }
    // A server of this release may still start, as when an upgrade is taken back.
    const back = await start()
    const [later] = servers
    servers[0] = back
    await later?.stop()

    await load.stop()
    assert.strictEqual(load.count("done"), load.operations.length)
    await load.check(back, `${serverUrl()}/${name}`)
    balancer.close()
    await Promise.all(servers.map((server) => server.remove()))
  })

  it("end when the later one makes the schema unreadable: the older ends itself, and does not start again", async () => {
    const older = await start()
    const later = await startLater(contracting)
    // It may have ended before, by its heartbeat.
    const unready = await older.call("GET", "/health/ready").catch(() => null)
    if (unready !== null) {
      assert.strictEqual(unready.status, 503)
      assert.match(unready.text, /the database went on without this server/)
    }
    assert.strictEqual(await isReady(later), 200)
    assert.deepStrictEqual(await older.ended, { code: 1, signal: null })
    assert.match(older.log, /because a newer release has migrated the database.*: start the newer coffer-server/)
    const { code, log } = await Program.refused(settings())
    assert.strictEqual(code, 1)
    assert.include(
      log,
      `has schema ${last}, which programs with schema ${next} and later read, and this program's is ${newestMigration}: run the newer`
    )
    await later.remove()
    await older.remove()
  })
})
