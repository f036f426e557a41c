import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { type DatabaseTarget, parseDatabaseUrl } from "./DatabaseUrl.js"
import { file, integer, password, word } from "./SettingFormats.js"
import { joined, problem, satisfying, type Setting } from "./ConfigProblems.js"
import type { Reader } from "./Variables.js"
import { leastPool, poolFor, workerCount } from "./WorkerSettings.js"

export interface PostgresSettings {
  readonly target: DatabaseTarget
  /** The size of the pool of connections: with several workers, of all pools together. */
  readonly connections: number
  /** Whether statements are prepared once a connection. Some connection poolers cannot. */
  readonly prepared: boolean
  /** Whether the server migrates the schema at its start, or refuses to start unless it is current. */
  readonly migrate: "auto" | "check"
  /** As whom migrations run; null for the server's own role. */
  readonly migrateTarget: DatabaseTarget | null
}

export interface DatabaseSettings {
  /** The database file. With PostgreSQL, the start of the names of working files. */
  readonly dbPath: string
  /** Null for the embedded SQLite. */
  readonly postgres: PostgresSettings | null
  /** How many processes serve requests; 1: this one. */
  readonly workers: number
}

const variable = "SERVICE_DATABASE_URL"
const workersVariable = "SERVICE_WORKERS"
const poolVariable = "SERVICE_DATABASE_POOL"

/** Settings that have no effect without SERVICE_DATABASE_URL, with their defaults, which may be given. */
const others: ReadonlyArray<readonly [variable: string, byDefault: string | null]> = [
  [poolVariable, "10"],
  ["SERVICE_DATABASE_MIGRATE", "auto"],
  ["SERVICE_DATABASE_MIGRATE_URL", null],
  ["SERVICE_DATABASE_MIGRATE_URL_FILE", null],
  ["SERVICE_DATABASE_PREPARE", "1"]
]

const target = (settings: Reader, name: string): Setting<DatabaseTarget | null> =>
  Effect.flatMap(settings.secret(name, password), (url) =>
    url === null
      ? Effect.succeed(null)
      : Either.match(parseDatabaseUrl(Redacted.value(url)), {
          onLeft: (rule) => problem(name, rule),
          onRight: (found) => Effect.succeed(found)
        })
  )

const sqlite = (settings: Reader): Setting<DatabaseSettings> => {
  if (![null, "1"].includes(settings.given(workersVariable))) {
    return problem(
      workersVariable,
      `must be 1 without ${variable}, because the database file has one writer in one process: remove it, or move to PostgreSQL (coffer-server database copy)`
    )
  }
  const first = others.find(([name, byDefault]) => ![null, byDefault].includes(settings.given(name)))?.[0]
  return first === undefined
    ? Effect.map(settings.withDefault("SERVICE_DB_PATH", file, "service.db"), (dbPath) => ({
        dbPath,
        postgres: null,
        workers: 1
      }))
    : problem(first, `has no effect without ${variable}: remove it, or set that`)
}

const postgres = (
  settings: Reader,
  { workers, ...rest }: Omit<PostgresSettings, "target"> & Pick<DatabaseSettings, "workers">
): Setting<DatabaseSettings> =>
  Effect.all(
    {
      target: target(settings, variable),
      file: settings
        .optional("SERVICE_DB_PATH", file)
        .pipe(
          satisfying("SERVICE_DB_PATH", `and ${variable} are both set: remove one of them`, (path) => path === null)
        )
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapError(joined),
    Effect.flatMap(({ target }) =>
      target === null
        ? problem(variable, "is empty: name a database, or remove it")
        : Effect.succeed({ dbPath: "service", postgres: { target, ...rest }, workers })
    )
  )

/** Which engine keeps the data, and where. */
export const database = (settings: Reader): Setting<DatabaseSettings> =>
  Effect.all(
    {
      workers: settings.withDefault(workersVariable, workerCount, 1),
      given: settings.optional(poolVariable, integer(2, 100)),
      prepared: settings.withDefault("SERVICE_DATABASE_PREPARE", word({ 0: false, 1: true }), true),
      migrate: settings.withDefault(
        "SERVICE_DATABASE_MIGRATE",
        word({ auto: "auto", check: "check" } as const),
        "auto" as const
      ),
      migrateTarget: target(settings, "SERVICE_DATABASE_MIGRATE_URL")
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapError(joined),
    Effect.flatMap(({ given, workers, ...rest }) => {
      if (!settings.hasSecret(variable)) return sqlite(settings)
      const least = leastPool(workers)
      return given !== null && given < least
        ? problem(
            poolVariable,
            `must be at least ${least} with ${workersVariable}=${workers}: 2 connections for each worker, and 2 for the main process`
          )
        : postgres(settings, { ...rest, workers, connections: given ?? poolFor(workers) })
    })
  )
