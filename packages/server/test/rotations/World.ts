import type { Actor } from "@coffer/domain/access/Actor"
import { ConnectionName, RotationName } from "@coffer/domain/base/Names"
import type { ConnectionKind } from "@coffer/domain/secrets/Connection"
import { Access } from "@coffer/server/access/Access"
import { NetworkAccess } from "@coffer/server/base/outbound/Outbound"
import { unfenced } from "@coffer/server/database/jobs/Lease"
import { Connections } from "@coffer/server/secrets/connections/Connections"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { DatabaseSlots } from "@coffer/server/secrets/connections/DatabaseSlots"
import { rotationsRepo } from "@coffer/server/secrets/rotations/Repo"
import { type ChangedRotation, type NewRotation, Rotations } from "@coffer/server/secrets/rotations/Rotations"
import { makeTurns } from "@coffer/server/secrets/rotations/RotationTurns"
import { Changes } from "@coffer/server/secrets/services/Changes"
import { Versions } from "@coffer/server/secrets/stored/Versions"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { renewedMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { renewedDatabase, renewerPassword } from "../support/postgres/RenewedDatabase.js"
import {
  asUser,
  envPath,
  key,
  onDatabase,
  organization,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const toLoopback = Layer.succeed(
  NetworkAccess,
  NetworkAccess.of({ resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]), certificates: null })
)

/** Runs a test on a database of its own, with the services of rotations. */
export const withRotations = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    test.pipe(
      Effect.provide(
        Layer.mergeAll(Connections.Default, Rotations.Default, Changes.Default, Versions.Default, unfenced).pipe(
          Layer.provideMerge(DatabaseSlots.Default),
          Layer.provideMerge(toLoopback)
        )
      ),
      onDatabase({ SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" })
    )
  )

export const rotation = RotationName.make("shop-app")

interface Renewed {
  readonly kind: ConnectionKind
  readonly name: string
  readonly port: number
  readonly ca: string
  readonly admits: (user: string, password: string) => Promise<boolean>
}

export const terms = ({ kind, name, port }: Renewed): NewRotation => ({
  name: rotation,
  connection: ConnectionName.make("shop-db"),
  users: ["app_a", "app_b"],
  writes: { DATABASE_URL: `${kind}://{user}:{password}@localhost:${port}/${name}` }
})

const as = <
  A extends "connection.create" | "rotation.create" | "rotation.update" | "rotation.delete" | "rotation.list"
>(
  action: A
) => Effect.flatMap(Access, (access) => access.right(envPath(), action)).pipe(asUser("ada@example.com"))

export const create = (request: NewRotation) =>
  Effect.flatMap(Effect.all([Rotations, as("rotation.create")]), ([rotations, place]) =>
    transaction(rotations.create(place, request))
  )

export const change = (request: ChangedRotation) =>
  Effect.flatMap(Effect.all([Rotations, as("rotation.update")]), ([rotations, place]) =>
    transaction(rotations.update(place, rotation, request))
  )

export const remove = Effect.flatMap(Effect.all([Rotations, as("rotation.delete")]), ([rotations, place]) =>
  transaction(rotations.remove(place, rotation))
)

export const show = Effect.flatMap(Effect.all([Rotations, as("rotation.list")]), ([rotations, place]) =>
  rotations.get(place, rotation)
)

export const runNow = Effect.gen(function* () {
  const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "rotation.run")).pipe(
    asUser("ada@example.com")
  )
  return yield* transaction((yield* Rotations).run(place, rotation))
})

export const removeEnvironment = Effect.gen(function* () {
  const place = yield* Effect.flatMap(Access, (access) => access.guarded(envPath(), "env.delete")).pipe(
    asUser("ada@example.com")
  )
  return yield* transaction((yield* Environments).remove(place))
})

/** The passwords that are drawn and not written yet. */
export const drawnNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`SELECT name FROM wrapped_keys WHERE name LIKE 'rotation/%' ORDER BY name`
  return rows.map(({ name }) => name)
})

/** An environment with a connection to the database, whose `DATABASE_URL` names the first user. */
export const renewing = Effect.fnUntraced(function* <D extends Renewed>(database: D) {
  const { ca, kind, port } = database
  const ada = yield* organization()
  yield* setSecret(ada, "RENEWER", renewerPassword)
  yield* setSecret(ada, "DATABASE_URL", `${kind}://app_a:first-a@localhost:${port}/${database.name}`)
  const place = yield* as("connection.create")
  yield* transaction(
    (yield* Connections).create(place, {
      ...{ name: ConnectionName.make("shop-db"), kind, host: "localhost", port, ca },
      ...{ database: database.name, user: "renewer", password_key: key("RENEWER") }
    })
  )
  return { ada, database }
})

export const world = Effect.flatMap(renewedDatabase, (database) => renewing(database))

export const mariaDbWorld = Effect.flatMap(renewedMariaDb, (database) => renewing(database))

/** The connection's login to a database. */
export const targetOf = ({ ca, name, port }: Renewed) => ({
  ...{ host: "localhost", address: "127.0.0.1", port, database: name },
  ...({ tls: "verify-full", ca } as const),
  login: { user: "renewer", password: Redacted.make(renewerPassword) }
})

/** The id of the rotation, for the job. */
export const rotationId = Effect.gen(function* () {
  const repo = yield* rotationsRepo
  const place = yield* as("rotation.list")
  const row = yield* repo.find({ envId: place.env.id, name: rotation })
  if (row === undefined) return yield* Effect.dieMessage("the rotation does not exist")
  return row.id
})

export const turns = makeTurns

/** The value of a secret. */
export const valueOf = (ada: Actor, name = "DATABASE_URL") => Effect.map(readSecret(ada, name), ({ value }) => value)

/** The user whom the stored secret names, who must be able to log in. */
export const loggingIn = (ada: Actor, database: Renewed) =>
  Effect.gen(function* () {
    const url = new URL(yield* valueOf(ada))
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    assert.isTrue(yield* Effect.promise(() => database.admits(user, password)), `${user} logs in`)
    return { user, password }
  })
