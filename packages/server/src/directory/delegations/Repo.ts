import { DelegationId, OrgId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { delegatedPlace, delegationEnd, liveDelegation } from "../../access/caller/ActorRepo.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"
import { ServerConfig } from "../../base/Config.js"
import { delegationLimit } from "../../access/caller/SessionLimits.js"
import { makePurge } from "../../database/jobs/Purge.js"

const DelegationRow = Schema.Struct({
  id: DelegationId,
  name: Schema.String,
  org_id: OrgId,
  org: OrgName,
  project: ProjectName,
  env: EnvName,
  permission: Schema.String,
  reveal: Schema.Number,
  keys: Schema.NullOr(Schema.String),
  created_at: Schema.Number,
  ends_at: Schema.Number,
  last_used_at: Schema.NullOr(Schema.String)
})
export type DelegationRow = typeof DelegationRow.Type

/** A longer limit must not bring back the delegations that the server's limit ended. */
export const delegationPurge = Effect.flatMap(ServerConfig, (config) =>
  makePurge({
    table: "delegations",
    lifetime: delegationLimit(config).maxMillis,
    ended: sql`expires_at <= ${databaseTime} OR created_at <= ${databaseTime} - ${"lifetime"}`
  })
)

export const delegationsRepo = Effect.map(query, ({ all, first, returning, write }) => {
  const ofPerson = sql`
    SELECT d.id AS id, d.name AS name, dg.id AS org_id, dg.name AS org, dp.name AS project, de.name AS env,
      d.permission AS permission, d.reveal AS reveal, d.keys AS keys, d.created_at AS created_at,
      ${delegationEnd} AS ends_at, d.last_used_at AS last_used_at
    FROM delegations d ${delegatedPlace}
    WHERE d.user_id = ${"userId"} AND ${liveDelegation}`

  return {
    /** Those of a person that have not ended, newest first. */
    live: all(DelegationRow)`${ofPerson} ORDER BY d.created_at DESC, d.id DESC`,

    find: first(DelegationRow)`${ofPerson} AND d.id = ${"id"}`,

    insert: write`
      INSERT INTO delegations (id, user_id, org_id, env_id, name, token_hash, permission, reveal, keys, created_at, expires_at)
      VALUES (${"id"}, ${"userId"}, ${"orgId"}, ${"envId"}, ${"name"}, ${"hash"}, ${"permission"}, ${"reveal"}, ${"keys"},
        ${"createdAt"}, ${"endsAt"})`,

    remove: returning(
      idRow(DelegationId)
    )`DELETE FROM delegations WHERE id = ${"id"} AND user_id = ${"userId"} RETURNING id`
  } as const
})
