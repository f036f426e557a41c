import { setImmediate } from "node:timers/promises"
import type { Caller } from "@coffer/domain/access/Actor"
import type { UserId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Trail } from "@coffer/server/edges/trail/Trail"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Users } from "@coffer/server/directory/login/Users"
import { ServerConfig } from "@coffer/server/base/Config"
import { Database } from "@coffer/server/database/Database"
import { DatabaseLive } from "@coffer/server/database/sqlite/SqliteDatabase"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { InstanceLive } from "@coffer/server/keys/Instance"
import { Keyring, makeKeyring } from "@coffer/server/keys/Keyring"
import { WrapBudget } from "@coffer/server/keys/WrapBudget"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { Members } from "@coffer/server/directory/members/Members"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { Headers } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer, Redacted, Runtime } from "effect"
import fc from "fast-check"
import { newSession } from "../support/NewSession.js"
import { RawStatements } from "../support/RawStatements.js"
import { PostgresStatements } from "../support/postgres/Statements.js"
import { configAt, DbPath, freshPath, freshPlace, isOnPostgres, layerIn, withServices } from "../support/Services.js"

const KeyringLive = Layer.effect(
  Keyring,
  Effect.flatMap(ServerConfig, (config) => makeKeyring(config.masterKey))
)

/** Every service, composed as `Server.ts` does, without HTTP, mail and a database. */
const everything = Layer.mergeAll(
  Organizations.Default,
  Members.Default,
  Projects.Default,
  Environments.Default,
  Secrets.Default,
  Bundles.Default,
  Acl.Default,
  ServiceAccounts.Default,
  Trail.Default,
  Users.Default,
  Authenticator.Default
).pipe(
  Layer.provide(Mailer.Default),
  Layer.provideMerge(Access.Default),
  Layer.provideMerge(Layer.mergeAll(AuditLog.Default, AuditIndex.Default, WrapBudget.Default)),
  Layer.provideMerge(InstanceLive)
)

const surroundings = (path: string, environment: Readonly<Record<string, string>> = {}) =>
  Layer.provideMerge(KeyringLive, configAt(path, environment))

/**
 * Every service over the database file at a path. `Watched` stands before the database, for a test that looks at what is
 * asked of it.
 */
export const everythingAt = (
  path: string,
  Watched: Layer.Layer<Database, never, Database> = Layer.effectContext(Effect.context())
) =>
  everything.pipe(
    Layer.provideMerge(Watched),
    Layer.provideMerge(RawStatements),
    Layer.provideMerge(DatabaseLive),
    Layer.provideMerge(surroundings(path)),
    Layer.provideMerge(Layer.succeed(DbPath, path))
  )

export type Everything = Layer.Layer.Success<ReturnType<typeof everythingAt>>

/** Every service over a PostgreSQL database. What SQLite alone has is absent: a test that asks for it fails. */
export const everythingOnPostgres = (
  url: string,
  path: string,
  options: { readonly clock?: "shared"; readonly environment?: Readonly<Record<string, string>> } = {}
) =>
  everything.pipe(
    Layer.provideMerge(PostgresStatements(url, options.clock)),
    Layer.provideMerge(surroundings(path, options.environment)),
    Layer.merge(Layer.succeedContext(Context.unsafeMake<Everything>(new Map())))
  )

/** Every service over a database of the project's engine. */
export const everythingIn = layerIn(everythingAt, (url, path) => everythingOnPostgres(url, path))

/** Runs a test with every service on a database of its own, and checks the database's invariants afterwards. */
export const onEverything = withServices(everythingIn)

/** As `onEverything`, for a test that damages the database by raw SQL. */
export const onDamaged = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(freshPlace, (place) => Effect.provide(Effect.scoped(test), everythingIn(place))).pipe(Effect.scoped)

/** As `onDamaged`, on SQLite alone: the test opens the file itself. */
export const onDamagedFile = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(freshPath, (path) => Effect.provide(Effect.scoped(test), everythingAt(path))).pipe(Effect.scoped)

/** Checks a property whose every run is an effect on the services of the test; fast-check names the seed of a failure. */
export const holds = <A, E, R>(
  arbitrary: fc.Arbitrary<A>,
  property: (value: A) => Effect.Effect<void, E, R>,
  parameters: fc.Parameters<[A]>
) =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(arbitrary, async (value) => {
          // Fibers go on before timers: without a pause, neither the audit queue's nor vitest's own would have their turn.
          await setImmediate()
          await Runtime.runPromise(runtime)(property(value))
        }),
        parameters
      )
    )
  )

/** A session that a person is logged in with, as the `Authorization` header holds it. */
export const session = (userId: UserId) =>
  Effect.gen(function* () {
    const { row, token } = newSession(userId, "2999-01-01T00:00:00.000Z")
    const { transaction } = yield* Database
    yield* transaction((yield* authRepo).insertSession(row))
    return { authorization: `Bearer ${token}` }
  })

export type Credential = Readonly<Record<string, string>>

export const apiKey = (key: Redacted.Redacted): Credential => ({ "x-api-key": Redacted.value(key) })

/** Returns the caller that a credential belongs to at this moment, as a request would identify it. */
export const authenticate = (credential: Credential): Effect.Effect<Caller, { readonly _tag: string }, Authenticator> =>
  Effect.flatMap(Authenticator, ({ identify }) => identify(Headers.fromInput(credential)))

/** Sets or takes a person's superadmin right, as the configuration does at a start. */
export const setSuperadmin = (userId: string, on: boolean) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE users SET superadmin = ${on ? 1 : 0} WHERE id = ${userId}`)

/** A number in the words of a status, for how a call ended. */
const statuses: Readonly<Record<string, number>> = {
  ValidationError: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  LastOwner: 409
}

/** How a call ended: 200 with its answer, or a failure's status. A defect stays one. */
export const status = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.match(call, {
    onFailure: (error): { readonly status: number; readonly answer?: A } => ({ status: statuses[error._tag] ?? 500 }),
    onSuccess: (answer): { readonly status: number; readonly answer?: A } => ({ status: 200, answer })
  })

/** Lets commits return before the disk has them: for tests of a thousand writes that are not about power loss. */
export const hasty = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  isOnPostgres() ? Effect.void : Effect.asVoid(sql.unsafe("PRAGMA synchronous = OFF"))
)
