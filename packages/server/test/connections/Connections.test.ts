import { ConnectionName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { NetworkAccess } from "@coffer/server/base/outbound/Outbound"
import { Connections, type NewConnection } from "@coffer/server/secrets/connections/Connections"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { renewedDatabase, renewerPassword } from "../support/postgres/RenewedDatabase.js"
import {
  asUser,
  entries,
  envPath,
  key,
  onDatabase,
  organization,
  outcome,
  setSecret,
  transaction
} from "../support/Services.js"

const name = ConnectionName.make("shop-db")
const networks = { SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" }

const toLoopback = Layer.succeed(
  NetworkAccess,
  NetworkAccess.of({ resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]), certificates: null })
)

/** Runs a test on a database of its own, where these networks are listed. */
const withConnections =
  (settings: Readonly<Record<string, string>> = networks) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.scoped(test.pipe(Effect.provide(Connections.Default.pipe(Layer.provide(toLoopback))), onDatabase(settings)))

const create = (request: Partial<NewConnection> = {}) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "connection.create")).pipe(
      asUser("ada@example.com")
    )
    const connections = yield* Connections
    return yield* transaction(
      connections.create(place, {
        ...{ name, host: "localhost", database: "postgres", user: "renewer", password_key: key("RENEWER") },
        ...request
      })
    )
  })

const tryIt = Effect.gen(function* () {
  const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "connection.test")).pipe(
    asUser("ada@example.com")
  )
  const connections = yield* Connections
  return yield* Effect.flatMap(transaction(connections.begin(place, name)), connections.finish)
})

describe("connections", () => {
  it.effect("log in by the secret of the environment, and say what the user may do", () =>
    Effect.gen(function* () {
      const database = yield* renewedDatabase
      const ada = yield* organization()
      yield* setSecret(ada, "RENEWER", renewerPassword)
      yield* create({ port: database.port, ca: database.ca })
      const tried = yield* tryIt
      assert.deepStrictEqual(tried, {
        ok: true,
        problem: null,
        version: tried.version,
        may_create: true,
        may_change: true,
        orphans: []
      })
      assert.match(tried.version ?? "", /^1[0-9]\./)

      // The password is read at each use.
      yield* setSecret(ada, "RENEWER", "another")
      const refused = yield* tryIt
      assert.deepInclude(refused, {
        ok: false,
        problem: "the database refused the login: check the connection's user and the secret with its password"
      })
      const log = JSON.stringify(yield* entries())
      assert.isFalse(log.includes(renewerPassword) || log.includes("another"))
      assert.isTrue(log.includes('"connection.test"'))
    }).pipe(withConnections())
  )

  it.effect("refuse a certificate that nobody trusts, and one of another host", () =>
    Effect.gen(function* () {
      const database = yield* renewedDatabase
      const ada = yield* organization()
      yield* setSecret(ada, "RENEWER", renewerPassword)
      const problemOf = (request: Partial<NewConnection>) =>
        Effect.gen(function* () {
          const connections = yield* Connections
          yield* create({ port: database.port, ...request })
          const { problem } = yield* tryIt
          const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "connection.delete")).pipe(
            asUser("ada@example.com")
          )
          yield* transaction(connections.remove(place, name))
          return problem
        })
      const certificate = "the host has no valid certificate"
      assert.strictEqual(yield* problemOf({}), certificate)
      assert.strictEqual(yield* problemOf({ host: "db.example.com", ca: database.ca }), certificate)
      assert.isNull(yield* problemOf({ host: "db.example.com", ca: database.ca, tls: "verify-ca" }))
      assert.isNull(yield* problemOf({ host: "127.0.0.1", ca: database.ca }))
      assert.isNull(yield* problemOf({ host: "db.example.com", tls: "require" }))
    }).pipe(withConnections())
  )

  it.effect("are refused while no network is listed", () =>
    Effect.gen(function* () {
      yield* organization()
      const off = yield* outcome(create({ host: "192.0.2.1" }))
      assert.strictEqual(off, "ValidationError")
    }).pipe(withConnections({}))
  )

  it.effect("go to no address outside of the listed networks", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "RENEWER", "x")
      assert.strictEqual(yield* outcome(create({ host: "127.0.0.1" })), "ValidationError")
      yield* create()
      const { problem } = yield* tryIt
      assert.strictEqual(
        problem,
        "the host has an address that is not public: SERVICE_RENEWAL_NETWORKS does not list it"
      )
    }).pipe(withConnections({ SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8" }))
  )

  it.effect("have a name once in an environment", () =>
    Effect.gen(function* () {
      yield* organization()
      yield* create()
      assert.strictEqual(yield* outcome(create()), "Conflict")
    }).pipe(withConnections())
  )
})
