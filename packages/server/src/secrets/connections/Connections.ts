import { actorName } from "@coffer/domain/access/Actor"
import { ConnectionId } from "@coffer/domain/base/Ids"
import type { ConnectionName, SecretKey } from "@coffer/domain/base/Names"
import { Conflict, RateLimited, ValidationError } from "@coffer/domain/errors/Errors"
import { type Connection, type ConnectionTest, defaultPorts, type TlsMode } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { orTaken } from "../../database/SqlErrors.js"
import { Versions } from "../stored/Versions.js"
import { ConnectionFailed } from "./Kind.js"
import { makeOrphans } from "./OrphansIn.js"
import { makePasswords } from "./Passwords.js"
import { type ConnectionRow, connectionsRepo, usesOfConnection } from "./Repo.js"
import { kinds, makeTargets } from "./DatabaseAddresses.js"

export const connectionLimit = recordLimit(20, (max) => `an environment has at most ${max} connections`)

const tests: RateLimit = { kind: "connection_test", max: 10, window: 60_000 }

export interface NewConnection {
  readonly name: ConnectionName
  readonly kind?: ConnectionRow["kind"]
  readonly host: string
  readonly port?: number
  readonly database: string
  readonly tls?: TlsMode
  readonly ca?: string
  readonly user: string
  readonly password_key: SecretKey
}

const connectionOf = ({ id: _id, login: user, ...row }: ConnectionRow): Connection => ({ ...row, user })

const columnsOf = ({ orphans: _orphans, ...row }: ConnectionRow) => row

/** The databases that the server logs in to in an environment. Passwords are secrets there. */
export class Connections extends Effect.Service<Connections>()("@coffer/server/Connections", {
  effect: Effect.gen(function* () {
    const audit = yield* AuditLog
    const repo = yield* connectionsRepo
    const passwordOf = yield* makePasswords
    const uses = yield* usesOfConnection
    const limits = yield* RateLimits
    const { check, targetOf } = yield* makeTargets
    const orphansIn = yield* makeOrphans

    const record = (
      place: Place<"connection.create" | "connection.delete" | "connection.test">,
      { id, name, ...row }: ConnectionRow,
      metadata: Readonly<Record<string, unknown>> = {}
    ) =>
      ({
        action: place.action,
        resource_type: "connection",
        resource_id: id,
        metadata: { name, host: row.host, database: row.database, user: row.login, ...metadata }
      }) as const

    const find = (place: Place<"connection.delete" | "connection.test">, name: ConnectionName) =>
      Effect.flatMap(repo.find({ envId: place.env.id, name }), (row) =>
        row === undefined ? notFound(`connection ${name}`) : Effect.succeed(row)
      )

    const list = traced("Connections.list")((place: Place<"connection.list">) =>
      Effect.map(repo.ofEnv({ envId: place.env.id }), (rows) => rows.map(connectionOf))
    )

    const create = method("Connections.create", function* (place: Place<"connection.create">, request: NewConnection) {
      const { ca = null, kind = "postgres", tls = "verify-full", user: login, ...rest } = request
      const port = request.port ?? defaultPorts[kind]
      yield* Effect.mapError(check(request), ({ message }) => new ValidationError({ message: `host: ${message}` }))
      yield* connectionLimit.room(yield* repo.count({ envId: place.env.id }))
      const id = ConnectionId.make(yield* uuidV7)
      const made = { created_by: actorName(place.actor), created_at: yield* now }
      const row: ConnectionRow = { id, ...rest, kind, port, tls, ca, login, orphans: 0, ...made }
      yield* repo
        .insert([{ ...columnsOf(row), org_id: place.org.id, env_id: place.env.id }])
        .pipe(orTaken(() => new Conflict({ message: `connection ${request.name} exists already` })))
      yield* audit.change(sourceOf(place), record(place, row, { kind, port, tls, password_key: row.password_key }))
      return connectionOf(row)
    })

    const remove = method("Connections.remove", function* (place: Place<"connection.delete">, name: ConnectionName) {
      const row = yield* find(place, name)
      for (const what of ["rotation", "role"] as const) {
        const [used] = yield* uses[what]({ connectionId: row.id })
        if (used !== undefined) {
          const command = `coffer ${what} delete ${used.name}`
          return yield* new Conflict({
            message: `connection ${name} is used by ${what} ${used.name}: remove that first, with ${command}`
          })
        }
      }
      yield* repo.remove({ id: row.id })
      yield* audit.change(sourceOf(place), record(place, row))
    })

    const limited = Effect.fnUntraced(function* (id: ConnectionId) {
      const retryAfter = yield* limits.wait(tests, id)
      if (retryAfter === 0) return yield* limits.count(tests, id)
      const message = `a connection is tried at most ${tests.max} times a minute: try again in ${retryAfter} seconds`
      return yield* new RateLimited({ message, retryAfter })
    })

    /** Begins a trial in a transaction: the entry says that the password is used before it is. */
    const begin = method("Connections.begin", function* (place: Place<"connection.test">, name: ConnectionName) {
      const row = yield* find(place, name)
      yield* limited(row.id)
      const found = yield* Effect.option(Effect.catchTag(passwordOf(place, row), "DecryptionFailed", Effect.die))
      const used = Option.match(found, {
        onNone: () => ({}),
        onSome: ({ version }) => ({ key: row.password_key, version })
      })
      yield* audit.change(sourceOf(place), record(place, row, used))
      return { row, password: Option.map(found, ({ password }) => password) }
    })

    /** Logs in and changes nothing. */
    const finish = traced("Connections.finish")(({ password, row }: Effect.Effect.Success<ReturnType<typeof begin>>) =>
      Effect.gen(function* () {
        const known = yield* Effect.mapError(password, () => new ConnectionFailed({ reason: "no password" }))
        const target = yield* targetOf(row, { user: row.login, password: known })
        const abilities = yield* kinds[row.kind].abilities(target)
        return { ...abilities, orphans: yield* orphansIn(kinds[row.kind], target) }
      }).pipe(
        Effect.match({
          onFailure: ({ message }): ConnectionTest => ({
            ...{ ok: false, problem: message, version: null },
            ...{ may_create: false, may_change: false, orphans: [] }
          }),
          onSuccess: (found): ConnectionTest => ({ ok: true, problem: null, ...found })
        })
      )
    )

    return { list, create, remove, begin, finish } as const
  }),
  dependencies: [Versions.Default, RateLimits.Default]
}) {}
