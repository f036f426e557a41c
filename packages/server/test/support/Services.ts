import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Actor, ServiceAccountActor, UserActor } from "@coffer/domain/access/Actor"
import { CurrentCaller } from "@coffer/domain/access/Actor"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { ApiKeyId, OrgId, ProjectId, ServiceAccountId, SessionId } from "@coffer/domain/base/Ids"
import type { Role } from "@coffer/domain/directory/Member"
import { Email, EnvName, OrgName, ProjectName, SecretKey, ServiceAccountName } from "@coffer/domain/base/Names"
import type { BundleFormat } from "@coffer/domain/secrets/Bundle"
import type { SecretKind } from "@coffer/domain/secrets/Secret"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { Access } from "@coffer/server/access/Access"
import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { ClientLogins } from "@coffer/server/directory/login/ClientLogins"
import type { LoggedIn } from "@coffer/server/directory/login/CompletedLogin"
import { ClientTokens } from "@coffer/server/directory/login/ClientTokens"
import { Login } from "@coffer/server/directory/login/Login"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { Users } from "@coffer/server/directory/login/Users"
import { loadConfig, ServerConfig } from "@coffer/server/base/Config"
import { DatabaseLive } from "@coffer/server/database/sqlite/SqliteDatabase"
import { PostgresErasuresLive } from "@coffer/server/database/postgres/PostgresErasures"
import { ErasuresLive } from "@coffer/server/database/sqlite/Erasure"
import { SqliteSnapshotsLive } from "@coffer/server/database/sqlite/SqliteSnapshots"
import { postgresSnapshots } from "@coffer/server/database/copy/PostgresSnapshots"
import { Database } from "@coffer/server/database/Database"
import type { Scope } from "@coffer/server/database/Scopes"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { InstanceLive } from "@coffer/server/keys/Instance"
import { Keyring, makeKeyring } from "@coffer/server/keys/Keyring"
import { WrapBudget } from "@coffer/server/keys/WrapBudget"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Clock, Cause, Context, Effect, Layer, Redacted, Schema } from "effect"
import { inject } from "vitest"
import { invariantsOf, masterKey } from "./Invariants.js"
import { onServer, serverUrl, settingsOf } from "./postgres/Databases.js"
import { breaking } from "./postgres/Faults.js"
import { emptyDatabase } from "./postgres/Reused.js"
import { PostgresStatements } from "./postgres/Statements.js"
import { RawStatements } from "./RawStatements.js"
import { migratedAt } from "./Template.js"

export { masterKey }

/** The path of a database that is not there yet, in a folder of its own that goes with the scope. */
export const freshPath = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-server-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder) => join(folder, "service.db")
)

/** A connection beside the server's own, for raw SQL. */
export const rawAt = (path: string, options: Sqlite.Options = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => new Sqlite(path, options)),
    (connection) => Effect.sync(() => connection.close())
  )

/** Where the database of the test is. */
export class DbPath extends Context.Tag("@coffer/server/Services/DbPath")<DbPath, string>() {}

/** The same, for a test on a database that is open: settings or damage that no statement of the program makes. */
export const raw = Effect.flatMap(DbPath, (path) => rawAt(path))

/** The login codes that were mailed, oldest first. */
export class Outbox extends Context.Tag("@coffer/server/Services/Outbox")<
  Outbox,
  Array<{ readonly to: Email; readonly code: Redacted.Redacted }>
>() {}

const MailerDouble = Layer.effect(
  Mailer,
  Effect.map(Outbox, (outbox) =>
    Mailer.make({
      sendLoginCode: (to, code) => Effect.sync(() => void outbox.push({ to, code })),
      sendInvitation: () => Effect.void,
      sendNotice: () => Effect.void
    })
  )
)

/** Makes one statement on the writing connection fail: the `at`-th from now, the first being 1; 0 is none. */
export class Faults extends Context.Tag("@coffer/server/Services/Faults")<
  Faults,
  { at: number; hit: boolean; instead?: string }
>() {}

/** Runs an effect while its `at`-th statement fails as on a broken disk; tells how it ended, and whether it got so far. */
export const failing = <A, E, R>(at: number, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const faults = yield* Faults
    faults.at = at
    faults.hit = false
    const exit = yield* Effect.exit(effect)
    faults.at = 0
    return { exit, hit: faults.hit }
  })

type AnyStatement = Sqlite.Statement

/** Which test breaks the statements of which database. */
const faultsAt = new Map<string, Faults["Type"]>()

const prepare = Object.getOwnPropertyDescriptor(Sqlite.prototype, "prepare")?.value as Sqlite.Database["prepare"]

/** Statements of a connection that writes may be made to fail; what begins and ends transactions may not. */
Sqlite.prototype.prepare = function (this: Sqlite.Database, text: string) {
  const statement: AnyStatement = prepare.call(this, text)
  const faults = faultsAt.get(this.name)
  if (
    faults === undefined ||
    this.readonly ||
    /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA wal_checkpoint)/.test(text)
  )
    return statement
  const guard = () => {
    if (faults.at === 0 || --faults.at > 0) return
    faults.hit = true
    throw new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR")
  }
  // Looked up at each call: a test may make the driver itself fail meanwhile.
  const driver = Object.getPrototypeOf(statement) as AnyStatement
  return Object.assign(statement, {
    all: (...parameters: Array<unknown>) => (guard(), driver.all.apply(statement, parameters)),
    run: (...parameters: Array<unknown>) => (guard(), driver.run.apply(statement, parameters))
  })
} as Sqlite.Database["prepare"]

const FaultyDatabase = Layer.unwrapScoped(
  Effect.gen(function* () {
    const path = yield* DbPath
    yield* Effect.acquireRelease(
      Effect.map(Faults, (faults) => faultsAt.set(path, faults)),
      () => Effect.sync(() => faultsAt.delete(path))
    )
    return RawStatements.pipe(Layer.provideMerge(DatabaseLive))
  })
)

const KeyringLive = Layer.effect(
  Keyring,
  Effect.flatMap(ServerConfig, (config) => makeKeyring(config.masterKey))
)

type Environment = Readonly<Record<string, string>>

export const configAt = (path: string, environment: Environment = {}) =>
  Layer.effect(
    ServerConfig,
    loadConfig({ SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", SERVICE_DB_PATH: path, ...environment })
  )

/** The services, composed as `Server.ts` does, without HTTP and without a database. */
const services = Layer.mergeAll(
  Organizations.Default,
  Projects.Default,
  Environments.Default,
  Secrets.Default,
  Bundles.Default,
  ClientLogins.Default,
  ClientTokens.Default,
  Login.Default,
  Sessions.Default,
  Users.Default,
  Authenticator.Default
).pipe(
  Layer.provideMerge(Access.Default),
  Layer.provideMerge(Layer.mergeAll(AuditLog.Default, AuditIndex.Default, MailerDouble)),
  Layer.provideMerge(Layer.mergeAll(InstanceLive, WrapBudget.Default))
)

/** The dependencies of the services other than the database. */
const surroundings = (path: string, environment: Environment) =>
  KeyringLive.pipe(
    Layer.provideMerge(configAt(path, environment)),
    Layer.merge(Layer.sync(Faults, () => ({ at: 0, hit: false }))),
    Layer.merge(Layer.sync(Outbox, () => []))
  )

/** The services over the SQLite database at a path. */
export const servicesAt = (path: string, environment: Environment = {}) =>
  services.pipe(
    Layer.provideMerge(Layer.merge(ErasuresLive, SqliteSnapshotsLive)),
    Layer.provideMerge(FaultyDatabase),
    Layer.provideMerge(surroundings(path, environment)),
    Layer.provideMerge(Layer.succeed(DbPath, path))
  )

/** The services over a PostgreSQL database. What SQLite alone has is absent: a test that asks for it fails. */
const servicesOnPostgres = (url: string, path: string, environment: Environment) =>
  services.pipe(
    Layer.provideMerge(PostgresErasuresLive),
    Layer.provideMerge(Layer.scopedDiscard(Effect.flatMap(Faults, (faults) => breaking(url, faults)))),
    Layer.provideMerge(PostgresStatements(url)),
    Layer.merge(postgresSnapshots(settingsOf(url).target)),
    Layer.provideMerge(surroundings(path, environment)),
    Layer.merge(Layer.succeedContext(Context.unsafeMake<Services>(new Map())))
  )

export type Services = Layer.Layer.Success<ReturnType<typeof servicesAt>>

/** Whether the tests of this project run on PostgreSQL. */
export const isOnPostgres = (): boolean => inject("postgres") !== undefined

/** A database of a test, of the engine of the test's project. Services can be started on it one after another. */
export interface Place {
  /** The path of the file, or of what a server on PostgreSQL has in files. */
  readonly path: string
  /** The database's name on the server; null for a file. */
  readonly name: string | null
}

/** The database of the test. */
export class DatabasePlace extends Context.Tag("@coffer/server/Services/DatabasePlace")<DatabasePlace, Place>() {}

/** A migrated database of its own for a test, which goes with the scope. */
export const freshPlace = Effect.gen(function* () {
  const path = yield* freshPath
  if (isOnPostgres()) return { path, name: (yield* emptyDatabase).name } satisfies Place
  yield* migratedAt(path)
  return { path, name: null } satisfies Place
})

/** Makes services of the layers for a file and for a database on the server. */
export const layerIn =
  <A, E, R, E2, R2>(
    onFile: (path: string) => Layer.Layer<A, E, R>,
    onServer: (url: string, path: string) => Layer.Layer<A, E2, R2>
  ) =>
  ({ name, path }: Place): Layer.Layer<A, E | E2, R | R2> =>
    name === null ? onFile(path) : onServer(`${serverUrl()}/${name}`, path)

/** The services over a database of the project's engine. */
export const servicesIn = (place: Place, environment: Environment = {}) =>
  layerIn(
    (path) => servicesAt(path, environment),
    (url, path) => servicesOnPostgres(url, path, environment)
  )(place)

/** The invariants of a database that no server has open. */
export const invariantsIn = ({ name, path }: Place) =>
  name === null
    ? invariants(path)
    : onServer(name, (client) =>
        Effect.runPromise(
          invariantsOf(<Row extends object>(text: string) =>
            Effect.promise(async () => (await client.query<Row>(text)).rows)
          )
        )
      )

/** Runs a test with services on a database of its own. When they have ended, the database's invariants are checked. */
export const withServices =
  <S, E2>(layerOf: (place: Place) => Layer.Layer<S, E2>) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const result = yield* Effect.provide(Effect.scoped(test), layerOf(place)).pipe(
        Effect.provideService(DatabasePlace, place)
      )
      yield* invariantsIn(place)
      return result
    }).pipe(Effect.scoped)

/** Runs a test with the services on a database of its own, of the engine of the test's project. */
export const onDatabase = (environment: Environment = {}) => withServices((place) => servicesIn(place, environment))

/** As `onDatabase`, for a test that damages the database by raw SQL. */
export const onDamagedDatabase =
  (environment: Environment = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.flatMap(freshPlace, (place) =>
      Effect.provide(Effect.scoped(test), servicesIn(place, environment)).pipe(
        Effect.provideService(DatabasePlace, place)
      )
    ).pipe(Effect.scoped)

/** Stands for every organization of a test, whose id is only known within the change. */
const anyOrganization: Scope = { kind: "org", id: "of a test" }

/** Runs an effect as one change of an organization. */
export const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) => database.change([anyOrganization], effect))

export const email = (address: string): Email => Schema.decodeSync(Email)(address)

/** Makes the person that is logged in with an address. */
export const person = (address: string, rights: { readonly superadmin?: boolean } = {}) =>
  Effect.gen(function* () {
    const users = yield* Users
    const { id, name } = yield* transaction(users.ensure(email(address)))
    const actor: UserActor = {
      type: "user",
      id,
      email: email(address),
      name,
      superadmin: rights.superadmin ?? false,
      sessionId: SessionId.make("0192f0c1-5b7e-7c3a-9d2e-000000000000"),
      sessionKind: "token",
      loginIsRecent: true,
      mayRecover: true,
      hasPasskey: false,
      passkeyIsRecent: false,
      delegation: null
    }
    return actor
  })

/** A person who has just proven who they are. */
export const loggedIn = (address: string) =>
  Effect.gen(function* () {
    const { email, id } = yield* person(address)
    const user = yield* (yield* authRepo).findUser({ email })
    const provenAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    return { id, email, ended: user?.logins_ended ?? assert.fail("no user"), provenAt } satisfies LoggedIn
  })

export const asActor =
  (actor: Actor) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, CurrentCaller, { actor })

export const asUser =
  (address: string, rights: { readonly superadmin?: boolean } = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(person(address, rights), (actor) => asActor(actor)(effect))

export const orgPath = (org = "acme") => ({ org_name: OrgName.make(org) })
export const projectPath = (project = "webshop", org = "acme") => ({
  ...orgPath(org),
  project_name: ProjectName.make(project)
})
export const envPath = (env = "prod", project = "webshop", org = "acme"): EnvPath => ({
  ...projectPath(project, org),
  env_name: EnvName.make(env)
})

/** An organization with a project, and the person who owns it. */
export const organization = (org = "acme", project = "webshop", owner = "ada@example.com") =>
  Effect.gen(function* () {
    const actor = yield* person(owner)
    yield* transaction((yield* Organizations).create(actor, OrgName.make(org)))
    yield* newProject(actor, project, org)
    return actor
  })

export const newProject = (actor: Actor, project: string, org = "acme") =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(org), "project.create").pipe(asActor(actor))
    return yield* transaction((yield* Projects).create(place, ProjectName.make(project)))
  })

type EnvAction = "secret.list" | "secret.read" | "secret.write" | "secret.compare" | "secret.copy" | "env.delete"

export const enter = <A extends EnvAction>(actor: Actor, action: A, path: EnvPath = envPath()) =>
  Effect.flatMap(Access, (access) => access.right(path, action)).pipe(asActor(actor))

export const key = (name: string): SecretKey => SecretKey.make(name)
export const value = (text: string): Redacted.Redacted<SecretValue> => Redacted.make(SecretValue.make(text))

export const setSecret = (
  actor: Actor,
  name: string,
  text: string,
  options: { readonly expected?: number; readonly path?: EnvPath; readonly kind?: SecretKind } = {}
) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enter(actor, "secret.write", options.path)
      const content = { kind: options.kind ?? "text", value: value(text) } as const
      return yield* (yield* Secrets).set(place, key(name), content, options.expected)
    })
  )

export const removeSecret = (
  actor: Actor,
  name: string,
  options: { readonly expected?: number; readonly path?: EnvPath; readonly force?: boolean } = {}
) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enter(actor, "secret.write", options.path)
      yield* (yield* Secrets).remove(place, key(name), options.expected, options.force)
    })
  )

/** A secret's value and version, in clear. */
export const readSecret = (
  actor: Actor,
  name: string,
  options: { readonly version?: number; readonly path?: EnvPath; readonly raw?: boolean } = {}
) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "secret.read", options.path)
    const secret = yield* (yield* Secrets).read(place, key(name), options.version, options.raw)
    return { version: secret.version, value: Redacted.value(secret.value) }
  })

export const listSecrets = (actor: Actor, path: EnvPath = envPath()) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "secret.list", path)
    return yield* (yield* Secrets).list(place)
  })

export const writeBundle = (
  actor: Actor,
  request: {
    readonly set?: Readonly<Record<string, string>>
    readonly references?: Readonly<Record<string, string>>
    readonly force?: boolean
    readonly delete?: ReadonlyArray<string>
    readonly dry_run?: boolean
    readonly note?: string
  },
  options: { readonly ifMatch?: string; readonly path?: EnvPath } = {}
) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enter(actor, "secret.write", options.path)
      const values = (texts: Readonly<Record<string, string>> = {}) =>
        new Map(Object.entries(texts).map(([name, text]) => [key(name), value(text)]))
      const { written } = yield* (yield* Bundles).write(
        place,
        {
          set: values(request.set),
          references: values(request.references),
          delete: (request.delete ?? []).map(key),
          dry_run: request.dry_run ?? false,
          force: request.force ?? false,
          ...(request.note !== undefined && { note: request.note })
        },
        options.ifMatch
      )
      return written
    })
  )

/** The ETag of an environment, and its keys with values in clear unless the ETag given is the same. */
export const readBundle = (
  actor: Actor,
  options: {
    readonly keys?: ReadonlyArray<string>
    readonly ifNoneMatch?: string
    readonly path?: EnvPath
    readonly raw?: boolean
    readonly format?: BundleFormat
  } = {}
) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "secret.read", options.path)
    const { path: _, ...request } = options
    const { bundle, etag } = yield* Effect.scoped(
      (yield* Bundles).read(place, { ...request, keys: options.keys?.map(key) })
    )
    return {
      etag,
      revision: bundle?.revision,
      data: bundle?.data.map((secret) => ({ ...secret, value: Redacted.value(secret.value) })),
      ...(bundle?.errors !== undefined && { errors: bundle.errors })
    }
  })

const stamp = "1970-01-01T00:00:00.000Z"
let uuids = 0
export const uuid = (): string => `0192f0c1-5b7e-7c3a-9d2e-${(++uuids).toString(16).padStart(12, "0")}`

const idOf = (table: string, column: string, wanted: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ id: string }>`
      SELECT id FROM ${sql(table)} WHERE ${sql(column)} = ${wanted} AND removed_at IS NULL`
    assert.isDefined(row, `${table} ${wanted}`)
    return row.id
  })

/** A member by SQL, who has accepted. */
export const member = (address: string, role: Role, org = "acme") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const actor = yield* person(address)
    const row = { id: uuid(), org_id: yield* idOf("organizations", "name", org), user_id: actor.id, role }
    yield* sql`INSERT INTO members ${sql.insert({ ...row, created_at: stamp, updated_at: stamp, accepted_at: stamp })}`
    return actor
  })

/** A new account that has its key. */
export const withKey = <A extends { readonly api_key?: Redacted.Redacted }>(made: A) =>
  made.api_key === undefined
    ? Effect.dieMessage("the account has no key")
    : Effect.succeed({ ...made, api_key: made.api_key })

/** A service account by SQL. */
export const account = (
  name: string,
  options: { readonly project?: string; readonly reveal?: boolean; readonly org?: string } = {}
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const org = options.org ?? "acme"
    const orgId = yield* idOf("organizations", "name", org)
    const projectId = options.project === undefined ? null : yield* idOf("projects", "name", options.project)
    const id = uuid()
    const reveal = options.reveal ?? true
    yield* sql`INSERT INTO service_accounts ${sql.insert({
      id,
      org_id: orgId,
      project_id: projectId,
      name,
      reveal: reveal ? 1 : 0,
      created_by: "ada@example.com",
      created_at: stamp,
      updated_at: stamp
    })}`
    const actor: ServiceAccountActor = {
      type: "service_account",
      id: ServiceAccountId.make(id),
      name: ServiceAccountName.make(name),
      orgId: OrgId.make(orgId),
      orgName: OrgName.make(org),
      project:
        projectId === null || options.project === undefined
          ? null
          : { id: ProjectId.make(projectId), name: ProjectName.make(options.project) },
      reveal,
      credential: { type: "key", id: ApiKeyId.make("0192f0c1-5b7e-7c3a-9d2e-000000000000"), sessionId: null }
    }
    return actor
  })

/** An access rule by SQL. */
export const grant = (
  actor: Actor,
  permission: "use" | "read" | "write" | "admin",
  patterns: { readonly project?: string; readonly env?: string; readonly org?: string; readonly ends?: number } = {}
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO acl_rules ${sql.insert({
      id: uuid(),
      org_id: yield* idOf("organizations", "name", patterns.org ?? "acme"),
      subject_type: actor.type,
      subject_id: actor.id,
      project_pattern: patterns.project ?? "*",
      env_pattern: patterns.env ?? "*",
      permission,
      expires_at: patterns.ends ?? null,
      created_by: "ada@example.com",
      created_at: stamp,
      updated_at: stamp
    })}`
  })

/** The entries of the log of an organization, or of the system's, oldest first, reads included. */
export const entries = (log = "acme") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* (yield* AuditLog).flush
    const id = log === "system" ? log : yield* idOf("organizations", "name", log)
    const rows = yield* sql<Record<string, unknown>>`SELECT * FROM audit_entries WHERE log = ${id} ORDER BY seq`
    return rows.map((row) => ({
      action: String(row.action),
      actor: String(row.actor_name),
      actor_id: row.actor_id,
      actor_type: row.actor_type,
      resource: [row.resource_type, row.resource_id],
      resource_type: row.resource_type,
      resource_id: row.resource_id,
      seq: row.seq,
      ip_address: row.ip_address,
      created_at: String(row.created_at),
      metadata: JSON.parse(String(row.metadata)) as unknown
    }))
  })

/** How an effect that must not succeed ended: a failure's tag, or "defect". */
export const outcome = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(Effect.sandbox(effect), {
    onFailure: (cause) => (Cause.isFailType(cause) ? cause.error._tag : "defect"),
    onSuccess: () => "success"
  })

/** The invariants of a database file that no server has open. */
export const invariants = (path: string, key: string = masterKey) =>
  Effect.gen(function* () {
    const db = yield* rawAt(path, { readonly: true, fileMustExist: true })
    assert.deepStrictEqual(db.pragma("integrity_check"), [{ integrity_check: "ok" }])
    assert.deepStrictEqual(db.pragma("foreign_key_check"), [])
    yield* invariantsOf(<Row extends object>(text: string) => Effect.sync(() => db.prepare<[], Row>(text).all()), key)
  }).pipe(Effect.scoped)
