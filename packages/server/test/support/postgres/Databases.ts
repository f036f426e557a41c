import { randomBytes } from "node:crypto"
import type { PostgresSettings } from "@coffer/server/base/config/DatabaseSettings"
import { parseDatabaseUrl } from "@coffer/server/base/config/DatabaseUrl"
import { rowTypes } from "@coffer/server/database/postgres/Connection"
import { migrate } from "@coffer/server/database/postgres/Migrations"
import { reach } from "@coffer/server/database/postgres/Reach"
import { Effect, Either } from "effect"
import { Client } from "pg"
import { inject } from "vitest"
import { invariantsOf } from "../Invariants.js"

/** The URL of the server; a test that needs it runs in the project `postgres`. */
export const serverUrl = (): string => {
  const url = inject("postgres")
  if (url === undefined) throw new Error("this test runs on PostgreSQL: vitest run --project postgres")
  return url
}

/** The settings of a server on a database. */
export const settingsOf = (url: string, settings: Partial<PostgresSettings> = {}): PostgresSettings => ({
  target: Either.getOrThrow(parseDatabaseUrl(url)),
  connections: 10,
  prepared: true,
  migrate: "auto",
  migrateTarget: null,
  ...settings
})

/** A database that is there, for what migrates it. */
export const reached = (url: string) => reach(settingsOf(url).target)

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

/** The invariants of a database that no server has open. */
export const invariantsOnServer = (database: string, key?: string) =>
  invariantsOf(
    <Row extends object>(text: string) => onServer(database, async (client) => (await client.query<Row>(text)).rows),
    key
  )

const template = "coffer_template"

const has = async (client: Client, database: string): Promise<boolean> =>
  (await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [database])).rowCount === 1

const run = (client: Client, statement: string) => client.query(statement)

/** Makes the migrated database that those of the tests are copies of, once for all workers. */
const makeTemplate = onServer("postgres", async (client) => {
  await run(client, "SELECT pg_advisory_lock(1)")
  if (await has(client, template)) return
  await run(client, `CREATE DATABASE ${template}_new`)
  await Effect.runPromise(Effect.flatMap(reached(`${serverUrl()}/${template}_new`), migrate))
  await run(client, `ALTER DATABASE ${template}_new RENAME TO ${template}`)
})

let templateIsMade = false

export const create = (source: string) =>
  Effect.gen(function* () {
    const name = `test_${randomBytes(8).toString("hex")}`
    // Copying files takes a third of the time of logging their pages.
    yield* onServer("postgres", (client) =>
      run(client, `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY = FILE_COPY`)
    )
    return name
  })

export const drop = (name: string) =>
  onServer("postgres", (client) => run(client, `DROP DATABASE ${name} WITH (FORCE)`))

/** Makes a migrated database, and returns its name. */
export const copyOfTemplate = Effect.suspend(() => {
  if (templateIsMade) return create(template)
  return Effect.zipRight(
    Effect.map(makeTemplate, () => {
      templateIsMade = true
    }),
    create(template)
  )
})

/** A new database for a test, dropped with the scope. With `migrated: false` it is empty. */
export const freshDatabase = ({ migrated = true } = {}) =>
  Effect.map(Effect.acquireRelease(migrated ? copyOfTemplate : create("template0"), drop), (name) => ({
    name,
    url: `${serverUrl()}/${name}`
  }))
