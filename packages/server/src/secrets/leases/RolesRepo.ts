import { ConnectionId, LeaseRoleId } from "@coffer/domain/base/Ids"
import { ConnectionName, LeaseRoleName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const LeaseRoleRow = Schema.Struct({
  id: LeaseRoleId,
  connection_id: ConnectionId,
  connection: ConnectionName,
  name: LeaseRoleName,
  create_sql: Schema.String,
  revoke_sql: Schema.String,
  default_ttl: Schema.String,
  max_ttl: Schema.String,
  created_by: Schema.String,
  created_at: Schema.String
})
export type LeaseRoleRow = typeof LeaseRoleRow.Type

const selected = sql`
  SELECT r.id AS id, r.connection_id AS connection_id, c.name AS connection, r.name AS name, r.create_sql AS create_sql,
    r.revoke_sql AS revoke_sql, r.default_ttl AS default_ttl, r.max_ttl AS max_ttl, r.created_by AS created_by,
    r.created_at AS created_at
  FROM lease_roles r JOIN connections c ON c.id = r.connection_id`

export const leaseRolesRepo = Effect.gen(function* () {
  const { all, first, insert, one, write } = yield* query

  return {
    ofEnv: all(LeaseRoleRow)`${selected} WHERE r.env_id = ${"envId"} ORDER BY r.name`,

    find: first(LeaseRoleRow)`${selected} WHERE r.env_id = ${"envId"} AND r.name = ${"name"}`,

    count: one(CountRow)`SELECT count(*) AS count FROM lease_roles WHERE env_id = ${"envId"}`,

    insert: insert("lease_roles", [
      ...["id", "org_id", "env_id", "connection_id", "name", "create_sql", "revoke_sql", "default_ttl", "max_ttl"],
      ...["created_by", "created_at"]
    ]),

    remove: write`DELETE FROM lease_roles WHERE id = ${"id"}`,

    leases: one(CountRow)`SELECT count(*) AS count FROM leases WHERE role_id = ${"id"}`
  } as const
})
