import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { QueryResultRow } from "pg"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"
import { now } from "../../base/Time.js"
import { laterMigrations } from "../LaterMigrations.js"
import { type Migration, numbered, postgresStatements } from "../Migration.js"
import { initial } from "./migrations/0001_initial.js"
import { identities } from "./migrations/0002_identities.js"
import { clientLogins } from "./migrations/0003_client_logins.js"
import { federations } from "./migrations/0004_federations.js"
import { endedLogins } from "./migrations/0005_ended_logins.js"
import { use } from "./migrations/0006_use.js"
import { keySessions } from "./migrations/0007_key_sessions.js"
import { secretReferences } from "./migrations/0008_secret_references.js"
import { declaredKeys } from "./migrations/0009_declared_keys.js"
import { webhooks } from "./migrations/0010_webhooks.js"
import { secretDues } from "./migrations/0011_secret_dues.js"
import { webhookIndexes } from "./migrations/0012_webhook_indexes.js"
import { provenLogins } from "./migrations/0013_proven_logins.js"
import { useRuleAccounts } from "./migrations/0014_use_rule_accounts.js"
import { clientNetworks } from "./migrations/0015_client_networks.js"
import { federationKeys } from "./migrations/0016_federation_keys.js"
import { auditIndex } from "./migrations/0017_audit_index.js"
import { lockFence, moveFence } from "./DatabaseFence.js"
import { isRetryableCode } from "./PostgresError.js"
import { connectWith, type Reached } from "./Reach.js"

/** The record of later migrations, from a number on. */
export const fromLater = (later: ReadonlyArray<Migration>, first: number): Migrations =>
  numbered(later, first, postgresStatements)

/** Every migration with its statements, in order. A test compares this record with the folders. */
export const migrations: Migrations = {
  "0001_initial": initial,
  "0002_identities": identities,
  "0003_client_logins": clientLogins,
  "0004_federations": federations,
  "0005_ended_logins": endedLogins,
  "0006_use": use,
  "0007_key_sessions": keySessions,
  "0008_secret_references": secretReferences,
  "0009_declared_keys": declaredKeys,
  "0010_webhooks": webhooks,
  "0011_secret_dues": secretDues,
  "0012_webhook_indexes": webhookIndexes,
  "0013_proven_logins": provenLogins,
  "0014_use_rule_accounts": useRuleAccounts,
  "0015_client_networks": clientNetworks,
  "0016_federation_keys": federationKeys,
  "0017_audit_index": auditIndex,
  ...fromLater(laterMigrations, 18)
}

export type Migrations = Readonly<Record<string, ReadonlyArray<string>>>

/** How long a start waits for another one that migrates the same database. */
const patience = "60s"

/** The key of the advisory lock under which the schema is migrated: the bytes of "coffer". */
const lockKey = 0x636f66666572

/**
 * The record of migrations, and the oldest migration that a program must know to use the database. A migration that
 * removes what older programs read raises `min_reader`.
 */
const tables = [
  `CREATE TABLE IF NOT EXISTS schema_migrations (
    id BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    applied_at TEXT COLLATE "C" NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS schema_info (
    id BIGINT PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    min_reader BIGINT NOT NULL
  )`,
  "INSERT INTO schema_info (min_reader) VALUES (1) ON CONFLICT (id) DO NOTHING"
]

const numberOf = (name: string): number => Number.parseInt(name, 10)

const newestOf = (all: Migrations): number => Math.max(...Object.keys(all).map(numberOf))

/** The schema version of this program. */
export const newestMigration = newestOf(migrations)

/** The first schema whose servers know the fence. */
export const fenceMigration = numberOf(Object.keys(migrations).find((name) => name.endsWith("_database_fence")) ?? "0")

export interface SchemaState {
  /** The newest migration of the database; 0 for an empty one. */
  readonly found: number
  /** The newest migration of this program. */
  readonly newest: number
  readonly isDue: boolean
}

/** A deadlock with the transactions of running servers, which lock tables in another order. A later attempt may succeed. */
class Deadlocked extends StartupError {}

const attemptsAfterDeadlock = { times: 10, schedule: Schedule.jittered(Schedule.spaced("250 millis")) }

const failed = (error: unknown): StartupError => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  if (code === "55P03") {
    return new StartupError({
      message: `another coffer-server has been migrating the database for ${patience}: wait until it has started, then start again`
    })
  }
  const message = `the database cannot be migrated (${reasonOf(error)}): it is as it was before`
  return isRetryableCode(code) ? new Deadlocked({ message }) : new StartupError({ message })
}

type Run = <Row extends QueryResultRow>(
  text: string,
  values?: ReadonlyArray<string | number>
) => Effect.Effect<ReadonlyArray<Row>, StartupError>

/** Statements on a connection of their own: a migration may take longer than a statement of the pool. */
const connected = ({ config }: Reached): Effect.Effect<Run, StartupError, Scope.Scope> =>
  Effect.map(
    Effect.mapError(
      connectWith(config),
      ({ reason }) => new StartupError({ message: `the database cannot be reached: ${reason}` })
    ),
    (client) =>
      <Row extends QueryResultRow>(text: string, values: ReadonlyArray<string | number> = []) =>
        Effect.map(
          Effect.tryPromise({ try: () => client.query<Row>(text, [...values]), catch: failed }),
          ({ rows }) => rows
        )
  )

/** Reads the state of the schema. Fails if a newer program has made it unreadable for this one. */
const stateOf = (run: Run, all: Migrations): Effect.Effect<SchemaState, StartupError> =>
  Effect.gen(function* () {
    const newest = newestOf(all)
    const [table] = yield* run<{ is_there: number }>("SELECT to_regclass('schema_info') IS NOT NULL AS is_there")
    if (table?.is_there !== 1) return { found: 0, newest, isDue: true }
    const [row] = yield* run<{ found: number; min_reader: number }>(
      "SELECT (SELECT coalesce(max(id), 0) FROM schema_migrations) AS found, min_reader FROM schema_info"
    )
    const { found = 0, min_reader = 1 } = row ?? {}
    if (min_reader > newest) {
      return yield* new StartupError({
        message: `the database has schema ${found}, which programs with schema ${min_reader} and later read, and this program's is ${newest}: run the newer coffer-server`
      })
    }
    return { found, newest, isDue: found < newest }
  })

/** Whether one of the pending migrations ends the use of the database by the programs that do not know it. */
const raisesMinReader = (all: Migrations, found: number): boolean =>
  Object.entries(all).some(
    ([name, statements]) => numberOf(name) > found && statements.some((statement) => statement.includes("min_reader"))
  )

const hasFence = (run: Run) =>
  Effect.map(
    run<{ is_there: number }>("SELECT to_regclass('database_fence') IS NOT NULL AS is_there"),
    ([row]) => row?.is_there === 1
  )

/** Reads the state of the schema without changing it. */
export const schemaState = (at: Reached, all: Migrations = migrations): Effect.Effect<SchemaState, StartupError> =>
  Effect.scoped(Effect.flatMap(connected(at), (run) => stateOf(run, all)))

/** Grants a role what a server needs. It cannot change audit entries or their logs' list, because it does not own the tables. */
const grant = (run: Run, role: string) =>
  Effect.gen(function* () {
    const [names] = yield* run<{ schema: string; role: string }>(
      "SELECT quote_ident(current_schema()) AS schema, quote_ident($1) AS role",
      [role]
    )
    if (names === undefined) return
    for (const statement of [
      `GRANT USAGE ON SCHEMA ${names.schema} TO ${names.role}`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${names.schema} TO ${names.role}`,
      `REVOKE UPDATE, DELETE ON audit_entries, audit_logs FROM ${names.role}`,
      `REVOKE INSERT, UPDATE, DELETE ON schema_migrations, schema_info FROM ${names.role}`
    ]) {
      yield* run(statement)
    }
  })

interface MigrateOptions {
  readonly all?: Migrations
  /** The role of the server, which is granted what it needs if another role migrates. */
  readonly role?: string
  /** Whether the rights are granted even if no migration is due. */
  readonly grants?: boolean
}

/**
 * Migrates the schema to this program's version in one transaction, under a lock that makes several programs wait for
 * each other. Returns the state before.
 */
export const migrate = (
  at: Reached,
  { all = migrations, grants = false, role = at.user }: MigrateOptions = {}
): Effect.Effect<SchemaState, StartupError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const run = yield* connected(at)
      const early = yield* stateOf(run, all)
      if (!early.isDue && !grants) return early
      yield* run("BEGIN")
      yield* run(`SET LOCAL lock_timeout = '${patience}'`)
      yield* run("SELECT pg_advisory_xact_lock($1)", [lockKey])
      for (const statement of tables) yield* run(statement)
      // Another program may have migrated meanwhile.
      const before = yield* stateOf(run, all)
      // Locked before any table, as by the transactions of servers.
      const moves = raisesMinReader(all, before.found) && (yield* hasFence(run))
      if (moves) {
        yield* run(lockFence)
        yield* run(moveFence("migrated", yield* now))
      }
      for (const [name, statements] of Object.entries(all)) {
        if (numberOf(name) <= before.found) continue
        for (const statement of statements) yield* run(statement)
        yield* run("INSERT INTO schema_migrations (id, name, applied_at) VALUES ($1, $2, $3)", [
          numberOf(name),
          name,
          yield* now
        ])
      }
      if (role !== at.user) yield* grant(run, role)
      yield* run("COMMIT")
      return before
    })
  ).pipe(Effect.retry({ ...attemptsAfterDeadlock, while: (error) => error instanceof Deadlocked }))
