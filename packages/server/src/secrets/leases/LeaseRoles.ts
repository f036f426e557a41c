import { actorName } from "@coffer/domain/access/Actor"
import { LeaseRoleId } from "@coffer/domain/base/Ids"
import type { ConnectionName, LeaseRoleName } from "@coffer/domain/base/Names"
import { spanMillis } from "@coffer/domain/base/Span"
import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import type { ConnectionKind } from "@coffer/domain/secrets/Connection"
import { type LeaseRole, leaseRoleDefaults } from "@coffer/domain/secrets/LeaseRole"
import { defaultSql, slotsOf, sqlProblem } from "@coffer/domain/secrets/SqlTemplate"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { orTaken } from "../../database/SqlErrors.js"
import { connectionsRepo } from "../connections/Repo.js"
import { type LeaseRoleRow, leaseRolesRepo } from "./RolesRepo.js"

export const leaseRoleLimit = recordLimit(50, (max) => `an environment has at most ${max} roles`)

export interface NewLeaseRole {
  readonly name: LeaseRoleName
  readonly connection: ConnectionName
  readonly create?: ReadonlyArray<string>
  readonly revoke?: ReadonlyArray<string>
  readonly default_ttl?: string
  readonly max_ttl?: string
}

const decodeStatements = Schema.decode(Schema.parseJson(Schema.Array(Schema.String)))

/** The statements of a row, which are stored as JSON. */
export const statementsOf = (text: string): Effect.Effect<ReadonlyArray<string>> => Effect.orDie(decodeStatements(text))

const roleOf = ({ create_sql, revoke_sql, ...row }: LeaseRoleRow): Effect.Effect<LeaseRole> =>
  Effect.map(Effect.all([statementsOf(create_sql), statementsOf(revoke_sql)]), ([create, revoke]) => ({
    ...{ name: row.name, connection: row.connection, create, revoke },
    ...{ default_ttl: row.default_ttl, max_ttl: row.max_ttl, created_by: row.created_by, created_at: row.created_at }
  }))

const check = (field: "create" | "revoke", statements: ReadonlyArray<string>, kind: ConnectionKind) => {
  const { needed, optional } = slotsOf[kind][field]
  const problem = sqlProblem(statements, needed, optional)
  return problem === null ? Effect.void : new ValidationError({ message: `${field}: ${problem}` })
}

type ChangingPlace = Place<"lease_role.create" | "lease_role.delete">

/** The roles of an environment: how users of databases are made for callers, and removed. */
export class LeaseRoles extends Effect.Service<LeaseRoles>()("@coffer/server/LeaseRoles", {
  effect: Effect.gen(function* () {
    const audit = yield* AuditLog
    const repo = yield* leaseRolesRepo
    const connections = yield* connectionsRepo

    const find = (place: ChangingPlace | Place<"lease_role.list">, name: LeaseRoleName) =>
      Effect.flatMap(repo.find({ envId: place.env.id, name }), (row) =>
        row === undefined ? notFound(`role ${name}`) : Effect.succeed(row)
      )

    const record = (place: ChangingPlace, id: LeaseRoleId, metadata: Readonly<Record<string, unknown>>) =>
      audit.change(sourceOf(place), { action: place.action, resource_type: "lease_role", resource_id: id, metadata })

    const list = traced("LeaseRoles.list")((place: Place<"lease_role.list">) =>
      Effect.flatMap(repo.ofEnv({ envId: place.env.id }), (rows) => Effect.forEach(rows, roleOf))
    )

    const get = traced("LeaseRoles.get")((place: Place<"lease_role.list">, name: LeaseRoleName) =>
      Effect.flatMap(find(place, name), roleOf)
    )

    const create = method("LeaseRoles.create", function* (place: Place<"lease_role.create">, request: NewLeaseRole) {
      const connection = yield* connections.find({ envId: place.env.id, name: request.connection })
      if (connection === undefined) return yield* notFound(`connection ${request.connection}`)
      const ofKind = defaultSql[connection.kind]
      const { create = ofKind.create, name, revoke = ofKind.revoke } = request
      const { default_ttl = leaseRoleDefaults.default_ttl, max_ttl = leaseRoleDefaults.max_ttl } = request
      yield* check("create", create, connection.kind)
      yield* check("revoke", revoke, connection.kind)
      if (spanMillis(default_ttl) > spanMillis(max_ttl)) {
        return yield* new ValidationError({ message: `default_ttl: must be at most max_ttl, ${max_ttl}` })
      }
      yield* leaseRoleLimit.room(yield* repo.count({ envId: place.env.id }))
      const row: LeaseRoleRow = {
        ...{ id: LeaseRoleId.make(yield* uuidV7), connection_id: connection.id, connection: connection.name, name },
        ...{ create_sql: JSON.stringify(create), revoke_sql: JSON.stringify(revoke), default_ttl, max_ttl },
        ...{ created_by: actorName(place.actor), created_at: yield* now }
      }
      const { connection: _connection, ...stored } = row
      yield* repo
        .insert([{ ...stored, org_id: place.org.id, env_id: place.env.id }])
        .pipe(orTaken(() => new Conflict({ message: `role ${name} exists already` })))
      yield* record(place, row.id, { name, connection: connection.name, create, revoke, default_ttl, max_ttl })
      return yield* roleOf(row)
    })

    const remove = method("LeaseRoles.remove", function* (place: Place<"lease_role.delete">, name: LeaseRoleName) {
      const row = yield* find(place, name)
      const { count } = yield* repo.leases({ id: row.id })
      if (count > 0) {
        return yield* new Conflict({ message: `role ${name} has ${count} leases: end them first (coffer lease list)` })
      }
      yield* repo.remove({ id: row.id })
      yield* record(place, row.id, { name })
    })

    return { list, get, create, remove } as const
  })
}) {}
