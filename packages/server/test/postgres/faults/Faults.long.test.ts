import { setTimeout } from "node:timers/promises"
import { migrations } from "@coffer/server/database/postgres/Migrations"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { cleanUp, Program, type Variables } from "../../support/Program.js"
import { Cluster, durable } from "../../support/postgres/Cluster.js"
import { Load, prepare, underLoad } from "./Load.js"
import { Relay } from "./Relay.js"
import { isSoak } from "../../../../domain/test/support/Runs.js"

/** The short form runs with all tests. */
const rounds = isSoak ? 10 : 2
/** Longer than PostgreSQL leaves the lock of the environment to a server that was frozen in its transaction. */
const frozenMillis = isSoak ? 60_000 : 7_000
/** The bench measures the promised five seconds; here other tests use the machine. */
const recoveryMillis = isSoak ? 5_000 : 30_000

let cluster: Cluster
let databases = 0

const onCluster = async <A>(use: (client: Client) => Promise<A>, database = "postgres"): Promise<A> => {
  const client = new Client({ connectionString: `${cluster.url}/${database}` })
  client.on("error", () => undefined)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const newDatabase = async (): Promise<string> => {
  const name = `faults_${++databases}`
  await onCluster((client) => client.query(`CREATE DATABASE ${name}`))
  return name
}

/** The URL of a database behind a relay. */
const through = ({ port }: Relay, database: string): string => `postgres://coffer@127.0.0.1:${port}/${database}`

const start = async (urls: ReadonlyArray<string>, variables: Variables = {}): Promise<ReadonlyArray<Program>> =>
  Promise.all(urls.map((url) => Program.start({ SERVICE_DATABASE_URL: url, ...variables })))

/** Runs three servers on one database under a load while something fails. */
const whileUnderLoad = async (
  disturb: (load: Load, database: string, servers: ReadonlyArray<Program>) => Promise<void>,
  urlsOf: (database: string) => ReadonlyArray<string> = (database) =>
    Array.from({ length: 3 }, () => `${cluster.url}/${database}`)
): Promise<Load> => {
  const database = await newDatabase()
  const servers = await start(urlsOf(database))
  return underLoad(
    servers,
    () => `${cluster.url}/${database}`,
    async (load) => {
      await disturb(load, database, servers)
      assert.isBelow(await load.recovery(), recoveryMillis, "each server writes again soon")
    }
  )
}

beforeAll(async () => {
  cluster = await Cluster.start(durable)
})

afterAll(async () => {
  cleanUp()
  await cluster.remove()
})

describe("three servers under load lose nothing, repeat nothing and fork no chain", () => {
  it.runIf(isSoak)("while sessions of the database are ended at random", async () => {
    await whileUnderLoad(async (_, database) => {
      for (let round = 0; round < 20 * rounds; round++) {
        await onCluster((client) =>
          client.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = $1 AND application_name = 'coffer-server' ORDER BY random() LIMIT 3`,
            [database]
          )
        )
        await setTimeout(50)
      }
    })
  })

  it("while PostgreSQL is killed and started again", async () => {
    await whileUnderLoad(async () => {
      for (let round = 0; round < rounds; round++) {
        cluster.kill()
        await cluster.stop()
        await setTimeout(300)
        await cluster.run()
        await setTimeout(700)
      }
    })
  })

  it.runIf(isSoak)("while one of them is frozen, and wakes up", async () => {
    await whileUnderLoad(async (load, _, [, frozen]) => {
      frozen?.signal("SIGSTOP")
      const before = load.count("done")
      await setTimeout(frozenMillis)
      frozen?.signal("SIGCONT")
      assert.isAbove(load.count("done"), before + 5, "the others went on")
    })
  })

  it("while one of them is killed", async () => {
    const database = await newDatabase()
    const url = `${cluster.url}/${database}`
    const servers = await start([url, url, url])
    const [first, second] = servers
    if (first === undefined || second === undefined) return assert.fail()
    const load = new Load(servers, await prepare(first))
    load.start()
    await setTimeout(700)
    first.signal("SIGKILL")
    await first.ended
    await setTimeout(1_000)
    await load.stop()
    await load.check(second, url)
    await Promise.all(servers.map((server) => server.remove()))
  })

  it("while connections are cut between COMMIT and its answer", async () => {
    const relay = await Relay.to(cluster.port)
    const load = await whileUnderLoad(
      async () => {
        for (let round = 0; round < 5 * rounds; round++) {
          relay.cutsCommits = true
          await setTimeout(100)
          relay.cutsCommits = false
          await setTimeout(100)
        }
      },
      (database) => [through(relay, database), through(relay, database), `${cluster.url}/${database}`]
    )
    assert.isAbove(load.count("unknown"), 0, "some outcomes were unknown")
    relay.close()
  })

  it.runIf(isSoak)("while the network between one of them and the database passes nothing on", async () => {
    const relay = await Relay.to(cluster.port)
    const load = await whileUnderLoad(
      async () => {
        relay.silent = true
        await setTimeout(isSoak ? 30_000 : 6_000)
        relay.silent = false
      },
      (database) => [`${cluster.url}/${database}`, `${cluster.url}/${database}`, through(relay, database)]
    )
    assert.isAbove(load.count("refused"), 0, "requests to that server were refused")
    relay.close()
  })

  it("while the primary dies and its synchronous standby is promoted", async () => {
    const standby = await cluster.standby()
    const relay = await Relay.to(cluster.port)
    const old = cluster
    await whileUnderLoad(
      async () => {
        old.kill()
        await old.stop()
        cluster = standby
        // The new primary has no standby to confirm its commits.
        await onCluster((client) => client.query("ALTER SYSTEM RESET synchronous_standby_names"))
        await onCluster((client) => client.query("SELECT pg_promote()"))
        relay.moveTo(standby.port)
      },
      (database) => Array.from({ length: 3 }, () => through(relay, database))
    )
    relay.close()
    await old.remove()
  })
})

describe("several servers", () => {
  it("that start at the same time on an empty database migrate it once, and make one instance", async () => {
    const database = await newDatabase()
    const servers = await start(Array.from({ length: 5 }, () => `${cluster.url}/${database}`))
    const rows = await onCluster(
      async (client) =>
        (await client.query("SELECT name FROM schema_migrations UNION ALL SELECT 'instance' FROM instance")).rows,
      database
    )
    assert.deepStrictEqual(rows.map((row: { name: string }) => row.name).sort(), [
      ...Object.keys(migrations),
      "instance"
    ])
    const migrated = servers.filter(({ log }) => log.includes("migrated the database"))
    assert.strictEqual(migrated.length, 1)
    await Promise.all(servers.map((server) => server.remove()))
  })
})
