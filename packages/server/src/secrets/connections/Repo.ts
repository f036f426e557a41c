import { ConnectionId, EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { ConnectionName, EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { connectionKinds, tlsModes } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const ConnectionRow = Schema.Struct({
  id: ConnectionId,
  name: ConnectionName,
  kind: Schema.Literal(...connectionKinds),
  host: Schema.String,
  port: Schema.Number,
  database: Schema.String,
  tls: Schema.Literal(...tlsModes),
  ca: Schema.NullOr(Schema.String),
  login: Schema.String,
  password_key: SecretKey,
  orphans: Schema.Number,
  created_by: Schema.String,
  created_at: Schema.String
})
export type ConnectionRow = typeof ConnectionRow.Type

const columns = sql`id, name, kind, host, port, database, tls, ca, login, password_key, orphans, created_by,
  created_at`

/** A connection that is to be looked at, with its place. */
const PlacedConnectionRow = Schema.Struct({
  id: ConnectionId,
  name: ConnectionName,
  org_id: OrgId,
  org: OrgName,
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName
})
export type PlacedConnectionRow = typeof PlacedConnectionRow.Type

const UseRow = Schema.Struct({ name: Schema.String })
const TotalRow = Schema.Struct({ total: Schema.Number })

export const connectionsRepo = Effect.gen(function* () {
  const { all, first, insert, one, write } = yield* query

  return {
    ofEnv: all(ConnectionRow)`SELECT ${columns} FROM connections WHERE env_id = ${"envId"} ORDER BY name`,

    find: first(ConnectionRow)`
      SELECT ${columns} FROM connections WHERE env_id = ${"envId"} AND name = ${"name"}`,

    byId: first(ConnectionRow)`SELECT ${columns} FROM connections WHERE id = ${"id"}`,

    count: one(CountRow)`SELECT count(*) AS count FROM connections WHERE env_id = ${"envId"}`,

    insert: insert("connections", [
      ...["id", "org_id", "env_id", "name", "kind", "host", "port", "database", "tls", "ca", "login", "password_key"],
      ...["created_by", "created_at"]
    ]),

    remove: write`DELETE FROM connections WHERE id = ${"id"}`,

    /** The connections whose databases are to be looked at for users that leases have left. */
    due: all(PlacedConnectionRow)`
      SELECT c.id AS id, c.name AS name, o.id AS org_id, o.name AS org, p.id AS project_id, p.name AS project,
        e.id AS env_id, e.name AS env
      FROM connections c JOIN environments e ON e.id = c.env_id AND ${liveEnv}
      JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
      JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL
      WHERE c.look_at <= ${databaseTime} ORDER BY c.look_at, c.id LIMIT ${"limit"}`,

    looked: write`
      UPDATE connections SET orphans = ${"orphans"}, look_at = ${databaseTime} + ${"millis"} WHERE id = ${"id"}`,

    lookAgain: write`UPDATE connections SET look_at = ${databaseTime} + ${"millis"} WHERE id = ${"id"}`,

    allOrphans: one(TotalRow)`SELECT coalesce(sum(orphans), 0) AS total FROM connections`
  } as const
})

/** The first rotation and the first role that use a connection. */
export const usesOfConnection = Effect.map(query, ({ all }) => ({
  rotation: all(UseRow)`SELECT name FROM rotations WHERE connection_id = ${"connectionId"} ORDER BY name LIMIT 1`,
  role: all(UseRow)`SELECT name FROM lease_roles WHERE connection_id = ${"connectionId"} ORDER BY name LIMIT 1`
}))
