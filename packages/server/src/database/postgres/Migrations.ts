import { Effect, Redacted } from "effect"
import { Client, type QueryResultRow } from "pg"
import { StartupError } from "../../StartupError.js"
import { reasonOf } from "../Reason.js"
import { now } from "../Time.js"
import { rowTypes } from "./Connection.js"
import { initial } from "./migrations/0001_initial.js"

/** Every migration with its statements, in order. A test compares this record with the folder. */
export const migrations: Migrations = { "0001_initial": initial }

export type Migrations = Readonly<Record<string, ReadonlyArray<string>>>

const connectMillis = 5_000

/** How long a start waits for another one that migrates the same database. */
const patience = "60s"

/** The key of the advisory lock under which the schema is migrated: the bytes of "coffer". */
const lockKey = 0x636f66666572

const table = `CREATE TABLE IF NOT EXISTS schema_migrations (
    id BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    applied_at TEXT COLLATE "C" NOT NULL
  )`

const numberOf = (name: string): number => Number.parseInt(name, 10)

const failed = (error: unknown) =>
  new StartupError({
    message:
      error instanceof Error && Reflect.get(error, "code") === "55P03"
        ? `another coffer-server has been migrating the database for ${patience}: wait until it has started, then start again`
        : `the database cannot be migrated (${reasonOf(error)}): it is as it was before`
  })

/** A connection of its own, closed with the scope: a migration may take longer than a statement of the pool. */
const connect = (url: Redacted.Redacted) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const client = new Client({
          connectionString: Redacted.value(url),
          connectionTimeoutMillis: connectMillis,
          types: rowTypes,
          application_name: "coffer-server"
        })
        // A lost connection fails the running statement; as an event it would end the process.
        client.on("error", () => undefined)
        await client.connect()
        return client
      },
      catch: (error) => new StartupError({ message: `the database cannot be reached: ${reasonOf(error)}` })
    }),
    (client) => Effect.promise(() => client.end().catch(() => undefined))
  )

/**
 * Migrates the schema to this program's version in one transaction, under a lock that makes several programs wait for
 * each other. Fails if a newer program has migrated the database.
 */
export const migrate = (url: Redacted.Redacted, all: Migrations = migrations) =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* connect(url)
      const run = <Row extends QueryResultRow>(text: string, values: ReadonlyArray<string | number> = []) =>
        Effect.tryPromise({ try: () => client.query<Row>(text, [...values]), catch: failed })
      yield* run("BEGIN")
      yield* run(`SET LOCAL lock_timeout = '${patience}'`)
      yield* run("SELECT pg_advisory_xact_lock($1)", [lockKey])
      yield* run(table)
      const { rows } = yield* run<{ newest: number }>("SELECT coalesce(max(id), 0) AS newest FROM schema_migrations")
      const found = rows[0]?.newest ?? 0
      const newest = Math.max(...Object.keys(all).map(numberOf))
      if (found > newest) {
        return yield* new StartupError({
          message: `the database has schema ${found}, which is newer than this program's ${newest}: run the newer coffer-server`
        })
      }
      for (const [name, statements] of Object.entries(all)) {
        if (numberOf(name) <= found) continue
        for (const statement of statements) yield* run(statement)
        yield* run("INSERT INTO schema_migrations (id, name, applied_at) VALUES ($1, $2, $3)", [
          numberOf(name),
          name,
          yield* now
        ])
      }
      yield* run("COMMIT")
    })
  )
