import { ConnectionId } from "@coffer/domain/base/Ids"
import { ConnectionName, SecretKey } from "@coffer/domain/base/Names"
import { connectionKinds, tlsModes } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
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
  created_by: Schema.String,
  created_at: Schema.String
})
export type ConnectionRow = typeof ConnectionRow.Type

const columns = sql`id, name, kind, host, port, database, tls, ca, login, password_key, created_by, created_at`

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

    remove: write`DELETE FROM connections WHERE id = ${"id"}`
  } as const
})

/** How many rotations and roles use a connection. */
export const usesOfConnection = Effect.map(query, ({ one }) => ({
  rotations: one(CountRow)`SELECT count(*) AS count FROM rotations WHERE connection_id = ${"connectionId"}`,
  roles: one(CountRow)`SELECT count(*) AS count FROM lease_roles WHERE connection_id = ${"connectionId"}`
}))
