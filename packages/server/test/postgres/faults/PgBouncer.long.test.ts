import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { copyOfTemplate, drop, onServer, serverUrl } from "../../support/postgres/Databases.js"
import { PgBouncer, pgBouncerVersion } from "../../support/postgres/PgBouncer.js"
import { Program, type Variables } from "../../support/Program.js"
import { underLoad } from "./Load.js"
import { isSoak } from "../../../../domain/test/support/Runs.js"

const loadMillis = isSoak ? 30_000 : 1_500

/** The number of sessions at PostgreSQL. */
const sessions = async (database: string): Promise<number> => {
  const text = "SELECT count(*) AS all FROM pg_stat_activity WHERE datname = $1"
  const { rows } = await Effect.runPromise(
    onServer("postgres", (client) => client.query<{ all: number }>(text, [database]))
  )
  return rows[0]?.all ?? 0
}

/** Runs three servers under a load. Their URL has the port, unless it is PostgreSQL's own. */
const serve = async (variables: Variables, port?: number): Promise<void> => {
  const database = await Effect.runPromise(copyOfTemplate)
  const url = new URL(`${serverUrl()}/${database}`)
  if (port !== undefined) url.port = String(port)
  const servers = await Promise.all(
    Array.from({ length: 3 }, () => Program.start({ SERVICE_DATABASE_URL: url.href, ...variables }))
  )
  const load = await underLoad(
    servers,
    () => `${serverUrl()}/${database}`,
    async () => {
      await setTimeout(loadMillis)
      if (port !== undefined) assert.isAtMost(await sessions(database), 5)
    }
  )
  assert.strictEqual(load.count("done"), load.operations.length)
  await Effect.runPromise(drop(database))
}

const behind = async (variables: Variables): Promise<void> => {
  const bouncer = await PgBouncer.before(Number(new URL(serverUrl()).port))
  await serve(variables, bouncer.port).finally(() => bouncer.remove())
}

describe("three servers under load", () => {
  it("lose nothing without named statements (SERVICE_DATABASE_PREPARE=0)", () =>
    serve({ SERVICE_DATABASE_PREPARE: "0" }))

  it.skipIf(pgBouncerVersion === null)(
    "lose nothing behind PgBouncer in transaction mode, without named statements (needs pgbouncer in the PATH)",
    () => behind({ SERVICE_DATABASE_PREPARE: "0" })
  )

  it.skipIf((pgBouncerVersion ?? 0) < 1.21)(
    "lose nothing behind PgBouncer in transaction mode, with named statements (needs pgbouncer 1.21 in the PATH)",
    () => behind({})
  )
})
