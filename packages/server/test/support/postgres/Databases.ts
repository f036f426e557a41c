import { randomBytes } from "node:crypto"
import { rowTypes } from "@coffer/server/database/postgres/Connection"
import { migrate } from "@coffer/server/database/postgres/Migrations"
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { inject } from "vitest"

/** The URL of the server; a test that needs it runs in the project `postgres`. */
export const serverUrl = (): string => {
  const url = inject("postgres")
  if (url === undefined) throw new Error("this test runs on PostgreSQL: vitest run --project postgres")
  return url
}

/** Runs statements on a connection of its own. */
export const onServer = <A>(database: string, use: (client: Client) => Promise<A>): Effect.Effect<A> =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: `${serverUrl()}/${database}`, types: rowTypes })
    client.on("error", () => undefined)
    await client.connect()
    try {
      return await use(client)
    } finally {
      await client.end()
    }
  })

const template = "coffer_template"

const has = async (client: Client, database: string): Promise<boolean> =>
  (await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [database])).rowCount === 1

const run = (client: Client, statement: string) => client.query(statement)

/** Makes the migrated database that those of the tests are copies of, once for all workers. */
const makeTemplate = onServer("postgres", async (client) => {
  await run(client, "SELECT pg_advisory_lock(1)")
  if (await has(client, template)) return
  await run(client, `CREATE DATABASE ${template}_new`)
  await Effect.runPromise(migrate(Redacted.make(`${serverUrl()}/${template}_new`)))
  await run(client, `ALTER DATABASE ${template}_new RENAME TO ${template}`)
})

let templateIsMade = false

/** A database of its own for a test, dropped with the scope. With `migrated: false` it is empty. */
export const freshDatabase = ({ migrated = true } = {}) =>
  Effect.gen(function* () {
    if (migrated && !templateIsMade) {
      yield* makeTemplate
      templateIsMade = true
    }
    const name = `test_${randomBytes(8).toString("hex")}`
    yield* Effect.acquireRelease(
      onServer("postgres", (client) =>
        run(client, `CREATE DATABASE ${name} TEMPLATE ${migrated ? template : "template0"}`)
      ),
      () => onServer("postgres", (client) => run(client, `DROP DATABASE ${name} WITH (FORCE)`))
    )
    return { name, url: `${serverUrl()}/${name}` }
  })
