import type { Actor } from "@coffer/domain/access/Actor"
import type { LeaseId } from "@coffer/domain/base/Ids"
import type { ConnectionKind } from "@coffer/domain/secrets/Connection"
import { ConnectionName, LeaseRoleName } from "@coffer/domain/base/Names"
import type { IssuedLease } from "@coffer/domain/secrets/Lease"
import { Access } from "@coffer/server/access/Access"
import { NetworkAccess } from "@coffer/server/base/outbound/Outbound"
import { Database } from "@coffer/server/database/Database"
import { unfenced } from "@coffer/server/database/jobs/Lease"
import { Delegations } from "@coffer/server/directory/delegations/Delegations"
import { Connections } from "@coffer/server/secrets/connections/Connections"
import { DatabaseSlots } from "@coffer/server/secrets/connections/DatabaseSlots"
import { makeLeaseEnds } from "@coffer/server/secrets/leases/LeaseEnds"
import { LeaseRoles, type NewLeaseRole } from "@coffer/server/secrets/leases/LeaseRoles"
import { Orphans } from "@coffer/server/secrets/leases/Orphans"
import { Leases } from "@coffer/server/secrets/leases/Leases"
import { makeLostRights } from "@coffer/server/secrets/leases/LostRights"
import { leasesRepo } from "@coffer/server/secrets/leases/Repo"
import { Versions } from "@coffer/server/secrets/stored/Versions"
import { Effect, Layer, Redacted } from "effect"
import { type RenewedMariaDb, renewedMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { type RenewedDatabase, renewedDatabase, renewerPassword } from "../support/postgres/RenewedDatabase.js"
import { asActor, envPath, key, onDatabase, organization, setSecret, transaction } from "../support/Services.js"

const toLoopback = Layer.succeed(
  NetworkAccess,
  NetworkAccess.of({ resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]), certificates: null })
)

const services = Layer.mergeAll(
  Connections.Default,
  LeaseRoles.Default,
  Leases.Default,
  Delegations.Default,
  Versions.Default,
  unfenced
).pipe(Layer.provideMerge(DatabaseSlots.Default), Layer.provideMerge(toLoopback))

/** Runs a test on a database of its own, with the services of leases. */
export const withLeases =
  (settings: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.scoped(
      test.pipe(Effect.provide(services), onDatabase({ SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8", ...settings }))
    )

const connection = ConnectionName.make("shop-db")
export const roleName = LeaseRoleName.make("app-role")

export const entering = <
  A extends
    | "connection.create"
    | "connection.list"
    | "connection.test"
    | "orphan.delete"
    | "lease_role.create"
    | "lease_role.delete"
    | "lease_role.list"
    | "lease.list"
    | "lease.create"
    | "lease.renew"
    | "lease.revoke"
>(
  actor: Actor,
  action: A
) => Effect.flatMap(Access, (access) => access.right(envPath(), action)).pipe(asActor(actor))

export const createRole = (actor: Actor, request: Partial<NewLeaseRole> = {}) =>
  Effect.gen(function* () {
    const place = yield* entering(actor, "lease_role.create")
    return yield* transaction((yield* LeaseRoles).create(place, { name: roleName, connection, ...request }))
  })

interface Leased {
  readonly kind: ConnectionKind
  readonly name: string
  readonly port: number
  readonly ca: string
}

/** An environment with a connection to the database. */
export const leasing = Effect.fnUntraced(function* <D extends Leased>(database: D) {
  const ada = yield* organization()
  yield* setSecret(ada, "RENEWER", renewerPassword)
  const place = yield* entering(ada, "connection.create")
  yield* transaction(
    (yield* Connections).create(place, {
      ...{ name: connection, kind: database.kind, host: "localhost", port: database.port },
      ...{ ca: database.ca, database: database.name, user: "renewer", password_key: key("RENEWER") }
    })
  )
  return { ada, database }
})

/** A database with a table, and an environment with a connection to it. */
export const world = Effect.flatMap(
  Effect.tap(renewedDatabase, (database) =>
    Effect.promise(async () => {
      await database.query("GRANT ALL ON SCHEMA public TO renewer WITH GRANT OPTION")
      await database.query("CREATE TABLE things (id serial PRIMARY KEY, name text)")
      await database.query("ALTER TABLE things OWNER TO renewer")
    })
  ),
  (database) => leasing(database)
)

export const mariaDbWorld = Effect.flatMap(renewedMariaDb, (database) => leasing(database))

/** The result of a test of the connection. */
export const tried = (actor: Actor) =>
  Effect.gen(function* () {
    const connections = yield* Connections
    const begun = yield* transaction(connections.begin(yield* entering(actor, "connection.test"), connection))
    return yield* connections.finish(begun)
  })

/** Removes a user that no lease has. */
export const removed = (actor: Actor, id: LeaseId) =>
  Effect.gen(function* () {
    const orphans = yield* Orphans
    const begun = yield* transaction(orphans.begin(yield* entering(actor, "orphan.delete"), connection, id))
    return yield* orphans.finish(begun)
  })

interface LeaseRequest {
  readonly ttl?: string
  readonly key?: string
}

const begin = (actor: Actor, request: LeaseRequest = {}) =>
  Effect.gen(function* () {
    const leases = yield* Leases
    const place = yield* entering(actor, "lease.create")
    return { place, begun: yield* transaction(leases.begin(place, roleName, request)) }
  })

export const lease = (actor: Actor, request: LeaseRequest = {}) =>
  Effect.gen(function* () {
    const { begun, place } = yield* begin(actor, request)
    return yield* (yield* Leases).finish(place, begun)
  })

export { begin as beginLease }

export const renew = (actor: Actor, id: LeaseId, ttl?: string) =>
  Effect.gen(function* () {
    const leases = yield* Leases
    const place = yield* entering(actor, "lease.renew")
    return yield* leases.finishRenewal(place, yield* transaction(leases.beginRenewal(place, id, { ttl })))
  })

export const revoke = (actor: Actor, id: LeaseId) =>
  Effect.gen(function* () {
    const place = yield* entering(actor, "lease.revoke")
    yield* transaction((yield* Leases).revoke(place, id))
  })

export const list = (actor: Actor) =>
  Effect.gen(function* () {
    return yield* (yield* Leases).list(yield* entering(actor, "lease.list"))
  })

/** One round of the job: ends what is lost, and removes what is due. */
export const round = Effect.gen(function* () {
  const { end, endLost } = yield* makeLeaseEnds
  const lostRights = yield* makeLostRights
  let after: string | null = ""
  while (after !== null) {
    const found: Effect.Effect.Success<ReturnType<typeof lostRights>> = yield* lostRights(after)
    yield* Effect.forEach(found.lost, endLost)
    after = found.next
  }
  const due = yield* (yield* leasesRepo).due({ limit: 100 })
  yield* Effect.forEach(due, ({ id }) => end(id), { concurrency: 4 })
})

/** The users of leases in the database. */
export const usersIn = (database: RenewedDatabase | RenewedMariaDb) =>
  Effect.promise(async () => {
    const [column, table] = database.kind === "mysql" ? ["user", "mysql.user"] : ["rolname", "pg_roles"]
    const rows = await database.query(
      `SELECT ${column} AS name FROM ${table} WHERE ${column} LIKE 'coffer\\_%' ORDER BY 1`
    )
    return rows.map(({ name }) => String(name))
  })

export const admits = (
  database: RenewedDatabase | RenewedMariaDb,
  { password, username }: Pick<IssuedLease, "password" | "username">
) => Effect.promise(() => database.admits(username, Redacted.value(password)))

export const clock = Effect.flatMap(Database, (database) => database.clock)
