import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { afterAll, beforeAll } from "vitest"
import { Cluster } from "../../../server/test/support/postgres/Cluster.js"

/** A PostgreSQL server whose users need their passwords. */
export const database = () => {
  let cluster: Cluster | undefined
  const found = () => {
    if (cluster === undefined) throw new Error("the tests have not begun")
    return cluster
  }
  const run = async (...statements: ReadonlyArray<string>) => {
    const client = new Client({ connectionString: `${found().url}/postgres` })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  beforeAll(async () => {
    cluster = await Cluster.start()
    const rules = join(cluster.folder, "data/pg_hba.conf")
    writeFileSync(rules, `host all coffer all trust\nhost all all all scram-sha-256\n${readFileSync(rules, "utf8")}`)
    await run("SELECT pg_reload_conf()")
  })
  afterAll(() => cluster?.remove())
  return {
    get port() {
      return found().port
    },
    run,
    /** The address for a user. */
    url: (user: string, password: string) => `postgres://${user}:${password}@127.0.0.1:${found().port}/postgres`
  }
}
