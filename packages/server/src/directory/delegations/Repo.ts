import type { Delegated } from "@coffer/domain/access/Actor"
import { DelegationId, OrgId } from "@coffer/domain/base/Ids"
import { OrgName } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { delegationEnd, liveDelegation } from "../../access/caller/ActorRepo.js"
import { delegatedOrg, delegatedPlaces, withPlaces } from "../../access/caller/DelegatedPlaces.js"
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
  places: Schema.NullOr(Schema.String),
  permission: Schema.String,
  reveal: Schema.Number,
  keys: Schema.NullOr(Schema.String),
  created_at: Schema.Number,
  ends_at: Schema.Number,
  last_used_at: Schema.NullOr(Schema.String),
  client_name: Schema.NullOr(Schema.String),
  client_host: Schema.NullOr(Schema.String)
})
/** A delegation with an environment that is left. */
export type DelegationRow = Omit<typeof DelegationRow.Type, "places"> & Pick<Delegated, "places">

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
    SELECT d.id AS id, d.name AS name, dg.id AS org_id, dg.name AS org, ${delegatedPlaces} AS places, d.permission AS permission, d.reveal AS reveal,
      d.keys AS keys, d.created_at AS created_at, ${delegationEnd} AS ends_at, d.last_used_at AS last_used_at,
      c.client_name AS client_name, c.client_host AS client_host
    FROM delegations d ${delegatedOrg} LEFT JOIN consents c ON c.delegation_id = d.id
    WHERE d.user_id = ${"userId"} AND ${liveDelegation}`

  const live = all(DelegationRow)`${ofPerson} ORDER BY d.created_at DESC, d.id DESC`
  const find = first(DelegationRow)`${ofPerson} AND d.id = ${"id"}`

  return {
    /** Those of a person that have not ended, newest first. */
    live: flow(live, Effect.map(Array.filterMap(flow(withPlaces, Option.fromNullable)))),

    find: flow(find, Effect.map(withPlaces)),

    insertEnvironment: write`
      INSERT INTO delegation_environments (delegation_id, env_id, position)
      VALUES (${"id"}, ${"envId"}, ${"position"})`,

    insert: write`
      INSERT INTO delegations (id, user_id, org_id, env_id, name, token_hash, permission, reveal, keys, created_at, expires_at)
      VALUES (${"id"}, ${"userId"}, ${"orgId"}, ${"envId"}, ${"name"}, ${"hash"}, ${"permission"}, ${"reveal"}, ${"keys"},
        ${"createdAt"}, ${"endsAt"})`,

    remove: returning(
      idRow(DelegationId)
    )`DELETE FROM delegations WHERE id = ${"id"} AND user_id = ${"userId"} RETURNING id`
  } as const
})
