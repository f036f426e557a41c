import { createHash } from "node:crypto"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { StartupError } from "../../base/StartupError.js"
import { keepCopy } from "./Copy.js"
import { reasonOf } from "../../base/Reason.js"
import { laterMigrations } from "../LaterMigrations.js"
import { schemaDigest } from "./SchemaDigest.js"
import { type Migration, numbered, sqliteStatements } from "../Migration.js"
import { isSqlError } from "../SqlErrors.js"
import { clientOf } from "./Connection.js"
import { initial } from "./migrations/0001_initial.js"
import { auditPages } from "./migrations/0002_audit_pages.js"
import { secretChanges } from "./migrations/0003_secret_changes.js"
import { rateLimits } from "./migrations/0004_rate_limits.js"
import { backupRecords } from "./migrations/0005_backup_records.js"
import { auditPlaces } from "./migrations/0006_audit_places.js"
import { disabledUsers } from "./migrations/0007_disabled_users.js"
import { rulePages } from "./migrations/0008_rule_pages.js"
import { sealedBlobs } from "./migrations/0009_sealed_blobs.js"
import { jobs } from "./migrations/0010_jobs.js"
import { identities } from "./migrations/0011_identities.js"
import { clientLogins } from "./migrations/0012_client_logins.js"
import { federations } from "./migrations/0013_federations.js"
import { endedLogins } from "./migrations/0014_ended_logins.js"
import { use } from "./migrations/0015_use.js"
import { keySessions } from "./migrations/0016_key_sessions.js"
import { secretReferences } from "./migrations/0017_secret_references.js"
import { declaredKeys } from "./migrations/0018_declared_keys.js"
import { webhooks } from "./migrations/0019_webhooks.js"
import { secretDues } from "./migrations/0020_secret_dues.js"
import { webhookIndexes } from "./migrations/0021_webhook_indexes.js"
import { provenLogins } from "./migrations/0022_proven_logins.js"
import { useRuleAccounts } from "./migrations/0023_use_rule_accounts.js"
import { clientNetworks } from "./migrations/0024_client_networks.js"
import { federationKeys } from "./migrations/0025_federation_keys.js"
import { auditIndex } from "./migrations/0026_audit_index.js"

const run = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  )

/** The record of later migrations, from a number on. */
export const fromLater = (later: ReadonlyArray<Migration>, first: number): Migrations =>
  numbered(later, first, (migration) => run(sqliteStatements(migration)))

/** Every migration, in order. A test compares this record with the folders. */
export const migrations: Migrations = {
  "0001_initial": initial,
  "0002_audit_pages": auditPages,
  "0003_secret_changes": secretChanges,
  "0004_rate_limits": rateLimits,
  "0005_backup_records": backupRecords,
  "0006_audit_places": auditPlaces,
  "0007_disabled_users": disabledUsers,
  "0008_rule_pages": rulePages,
  "0009_sealed_blobs": sealedBlobs,
  "0010_jobs": jobs,
  "0011_identities": identities,
  "0012_client_logins": clientLogins,
  "0013_federations": federations,
  "0014_ended_logins": endedLogins,
  "0015_use": use,
  "0016_key_sessions": keySessions,
  "0017_secret_references": secretReferences,
  "0018_declared_keys": declaredKeys,
  "0019_webhooks": webhooks,
  "0020_secret_dues": secretDues,
  "0021_webhook_indexes": webhookIndexes,
  "0022_proven_logins": provenLogins,
  "0023_use_rule_accounts": useRuleAccounts,
  "0024_client_networks": clientNetworks,
  "0025_federation_keys": federationKeys,
  "0026_audit_index": auditIndex,
  ...fromLater(laterMigrations, 27)
}

export type Migrations = Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>>

const newestOf = (all: Migrations): number => Math.max(...Object.keys(all).map((name) => Number.parseInt(name, 10)))

/** The schema version of this program. */
export const newestMigration = newestOf(migrations)

const Found = Schema.Array(Schema.Struct({ migration_id: Schema.Number }))

/** The number of the newest migration applied to the database; 0 for a new database. */
const applied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'effect_sql_migrations'`
  if (tables.length === 0) return 0
  const [found] = yield* Schema.decodeUnknown(Found)(
    yield* sql`SELECT coalesce(max(migration_id), 0) AS migration_id FROM effect_sql_migrations`
  )
  return found?.migration_id ?? 0
})

const refuseNewer = (found: number, newest: number) =>
  found <= newest
    ? Effect.void
    : new StartupError({
        message: `the database has schema ${found}, which is newer than this program's ${newest}: run the newer coffer-server`
      })

const explained = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError | ParseResult.ParseError | Migrator.MigrationError, R>
) =>
  effect.pipe(
    Effect.catchIf(
      isSqlError,
      (error) => new StartupError({ message: `the database cannot be read: ${reasonOf(error.cause)}` })
    ),
    Effect.catchIf(
      (error) => ParseResult.isParseError(error),
      () => new StartupError({ message: "the database's table of migrations is damaged" })
    ),
    Effect.catchIf(
      (error) => error instanceof Migrator.MigrationError,
      (error) => new StartupError({ message: `the database cannot be migrated: ${error.message}` })
    )
  )

const ObjectRow = Schema.Struct({
  type: Schema.String,
  name: Schema.String,
  tbl_name: Schema.String,
  sql: Schema.NullOr(Schema.String)
})

/** Tables, indexes, triggers and views, without the statistics tables of `PRAGMA optimize`. */
const objects = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Schema.decodeUnknown(Schema.Array(ObjectRow))(
    yield* sql`SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4')`
  )
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, JSON.stringify(row)]))
})

const runAll = (all: Migrations) => Migrator.make({})({ loader: Migrator.fromRecord(all) })

type Objects = Effect.Effect.Success<typeof objects>

/** The SHA-256 of a schema, in hex. */
const digestOf = (found: Objects): string =>
  createHash("sha256")
    .update(JSON.stringify([...found].sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest("hex")

/** The objects that migrations create. Offline commands open several databases. */
const expectedObjects = new WeakMap<Migrations, Objects>()

const objectsOf = (all: Migrations) =>
  Effect.suspend(() => {
    const known = expectedObjects.get(all)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.flatMap(clientOf(":memory:"), (client) =>
      Effect.provideService(Effect.zipRight(runAll(all), objects), SqlClient.SqlClient, client)
    ).pipe(
      Effect.scoped,
      Effect.provide(Reactivity.layer),
      Effect.tap((expected) => {
        expectedObjects.set(all, expected)
      })
    )
  })

/** The digest of the schema that `migrations` make, which `npm run generate` writes into SchemaDigest.ts. */
export const currentDigest = Effect.map(objectsOf(migrations), digestOf)

/**
 * Fails unless every object of the schema is as the migrations create it. A database with the written digest is; for any other,
 * the migrations run in memory, which takes a fifth of a start, and the first object that differs is named. A planted trigger
 * could, for example, turn the removal of a member into a no-op.
 */
const requireSchema = (all: Migrations) =>
  Effect.gen(function* () {
    const found = yield* objects
    if (all === migrations && digestOf(found) === schemaDigest) return
    const expected = yield* objectsOf(all)
    const refuse = (object: string, what: string) =>
      new StartupError({
        message: `the database's schema was changed by another program: the ${object} ${what}; restore a backup, or undo the change`
      })
    for (const [object, text] of found) {
      if (!expected.has(object)) return yield* refuse(object, "does not belong there")
      if (expected.get(object) !== text) return yield* refuse(object, "is not as Coffer made it")
    }
    for (const object of expected.keys()) if (!found.has(object)) return yield* refuse(object, "is missing")
  })

/** Fails unless the schema is exactly this program's: offline commands do not migrate. */
export const requireCurrentSchema = Effect.gen(function* () {
  const newest = newestOf(migrations)
  const found = yield* applied
  yield* refuseNewer(found, newest)
  if (found < newest) {
    return yield* new StartupError({
      message: `the database has schema ${found} and this program ${newest}: start coffer-server once, then try again`
    })
  }
  yield* requireSchema(migrations)
}).pipe(explained)

const failed = (reason: string) =>
  new StartupError({ message: `the database cannot be migrated (${reason}): it is as it was before` })

/** Turns the toolkit's defect of a failed migration or commit into a message for the operator. */
const failure = (defect: unknown): Option.Option<StartupError> => {
  const cause = defect instanceof Migrator.MigrationError ? defect.cause : defect
  return isSqlError(cause) ? Option.some(failed(reasonOf(cause.cause))) : Option.none()
}

/**
 * Migrates the schema to this program's version, after copying a database that is not new. Fails if a newer program has
 * migrated the database.
 */
export const migrate = (path: string, all: Migrations = migrations) =>
  Effect.gen(function* () {
    const newest = newestOf(all)
    const found = yield* applied
    yield* refuseNewer(found, newest)
    if (found > 0 && found < newest) yield* keepCopy(path, found + 1)
    yield* runAll(all).pipe(Effect.catchSomeDefect(failure))
    // If the toolkit cannot record a migration, it assumes that another process is migrating, and succeeds.
    if ((yield* applied) < newest) return yield* failed("its table of migrations cannot be written")
    yield* requireSchema(all)
  }).pipe(explained)
