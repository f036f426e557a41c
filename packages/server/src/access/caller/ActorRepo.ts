import type { Delegated } from "@coffer/domain/access/Actor"
import { delegablePermissions } from "@coffer/domain/directory/Delegation"
import {
  ApiKeyId,
  DelegationId,
  FederationId,
  OrgId,
  ProjectId,
  ServiceAccountId,
  SessionId,
  UserId
} from "@coffer/domain/base/Ids"
import { Email, FederationName, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Schema from "effect/Schema"
import { databaseTime, fenceCheck, query, sql } from "../../database/Query.js"
import { delegatedOrg, delegatedPlaces, withPlaces } from "./DelegatedPlaces.js"
import { accountPlaceColumns, joinPlace, orgOfPath, placeColumns, placeFields } from "../place/PlaceRow.js"

const SessionActorRow = Schema.Struct({
  session_id: SessionId,
  user_id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  superadmin: Schema.Number,
  kind: Schema.Literal("token", "cookie"),
  proven_at: Schema.NullOr(Schema.String),
  proven_by: Schema.Literal("login", "passkey", "operator"),
  passkeys: Schema.Number,
  last_used_at: Schema.String,
  ...placeFields
})
export type SessionActorRow = typeof SessionActorRow.Type

const DelegationActorRow = Schema.Struct({
  delegation_id: DelegationId,
  delegation_name: Schema.String,
  permission: Schema.Literal(...delegablePermissions),
  reveal: Schema.Number,
  keys: Schema.NullOr(Schema.String),
  connected: Schema.Number,
  created_at: Schema.Number,
  ends_at: Schema.Number,
  last_used_at: Schema.NullOr(Schema.String),
  user_id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  superadmin: Schema.Number,
  own_org_id: OrgId,
  own_org_name: OrgName,
  /** Null if none of its environments is left. */
  places: Schema.NullOr(Schema.String),
  ...placeFields
})
/** A delegation with an environment that is left. */
export type DelegationActorRow = Omit<typeof DelegationActorRow.Type, "places"> & Pick<Delegated, "places">

const accountFields = {
  account_id: ServiceAccountId,
  account_name: ServiceAccountName,
  own_org_id: OrgId,
  own_org_name: OrgName,
  own_project_id: Schema.NullOr(ProjectId),
  own_project_name: Schema.NullOr(ProjectName),
  reveal: Schema.Number,
  allowed_networks: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(Schema.String),
  ...placeFields
}

const KeyActorRow = Schema.Struct({ key_id: ApiKeyId, ...accountFields })
export type KeyActorRow = typeof KeyActorRow.Type

const KeySessionActorRow = Schema.Struct({ session_id: SessionId, ...KeyActorRow.fields })
export type KeySessionActorRow = typeof KeySessionActorRow.Type

const FederatedActorRow = Schema.Struct({
  session_id: SessionId,
  federation_id: FederationId,
  federation_name: FederationName,
  ...accountFields
})
export type FederatedActorRow = typeof FederatedActorRow.Type

export type AccountActorRow = Omit<KeyActorRow, "key_id">

/** The sessions `s` that have not expired. Only those of browsers expire when they are idle. */
export const liveSession = sql`
  s.created_at > ${"bornAfter"} AND (s.kind = 'token' OR s.last_used_at > ${"usedAfter"})`

const sessionActor = sql`
  SELECT s.id AS session_id, u.id AS user_id, u.email AS email, u.name AS name, u.superadmin AS superadmin,
    s.kind AS kind, s.proven_at AS proven_at, s.proven_by AS proven_by, s.last_used_at AS last_used_at,
    (SELECT count(*) FROM passkeys k WHERE k.user_id = u.id) AS passkeys, ${placeColumns(sql`u.id`)}
  FROM sessions s JOIN users u ON u.id = s.user_id
  LEFT JOIN organizations o ON ${orgOfPath} ${joinPlace(sql`u.id`)}
  WHERE ${fenceCheck} AND ${liveSession} AND u.disabled_at IS NULL`

/** When a delegation `d` ends, in milliseconds. The server's limit shortens those that were made under a longer one. */
export const delegationEnd = sql`
  CASE WHEN d.expires_at < d.created_at + ${"maxMillis"} THEN d.expires_at ELSE d.created_at + ${"maxMillis"} END`

/** The delegations `d` that have not ended. */
export const liveDelegation = sql`${delegationEnd} > ${databaseTime}`

// The role and the rules are the person's: what the delegation leaves of them is decided with each of them.
const delegationActor = sql`
  SELECT d.id AS delegation_id, d.name AS delegation_name, d.permission AS permission, d.reveal AS reveal,
    d.keys AS keys, (SELECT count(*) FROM consents c WHERE c.delegation_id = d.id) AS connected,
    d.created_at AS created_at, ${delegationEnd} AS ends_at, d.last_used_at AS last_used_at,
    u.id AS user_id, u.email AS email, u.name AS name, u.superadmin AS superadmin,
    dg.id AS own_org_id, dg.name AS own_org_name, ${delegatedPlaces} AS places, ${placeColumns(sql`u.id`)}
  FROM delegations d JOIN users u ON u.id = d.user_id ${delegatedOrg}
  LEFT JOIN organizations o ON ${orgOfPath} ${joinPlace(sql`u.id`)}
  WHERE ${fenceCheck} AND ${liveDelegation} AND u.disabled_at IS NULL`

const accountColumns = sql`
  a.id AS account_id, a.name AS account_name, oo.id AS own_org_id, oo.name AS own_org_name,
    op.id AS own_project_id, op.name AS own_project_name, a.reveal AS reveal,
    a.allowed_networks AS allowed_networks, a.last_used_at AS last_used_at,
    ${accountPlaceColumns(sql`a.id`)}`

const accountPlaces = sql`
  JOIN organizations oo ON oo.id = a.org_id AND oo.removed_at IS NULL
  LEFT JOIN projects op ON op.id = a.project_id
  LEFT JOIN organizations o ON ${orgOfPath} ${joinPlace(sql`a.id`)}`

// An account that is bound to a project ends with it. The row of the project is always there.
const homeIsLive = sql`op.removed_at IS NULL`

const accountOfKey = sql`JOIN service_accounts a ON a.id = k.service_account_id AND a.removed_at IS NULL`

const liveKey = sql`k.removed_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${"now"})`

const keyActor = sql`
  SELECT k.id AS key_id, ${accountColumns}
  FROM api_keys k ${accountOfKey} ${accountPlaces}
  WHERE ${fenceCheck} AND ${homeIsLive} AND ${liveKey}`

// Ends with its key, because the key is read with it.
const keySessionActor = sql`
  SELECT s.id AS session_id, k.id AS key_id, ${accountColumns}
  FROM key_sessions s JOIN api_keys k ON k.id = s.key_id ${accountOfKey} ${accountPlaces}
  WHERE ${fenceCheck} AND ${homeIsLive} AND s.expires_at > ${"now"} AND ${liveKey}`

// A session never outlasts its federation, so the time when that expires need not be read.
const federatedActor = sql`
  SELECT s.id AS session_id, f.id AS federation_id, f.name AS federation_name, ${accountColumns}
  FROM federated_sessions s
  JOIN federations f ON f.id = s.federation_id AND f.removed_at IS NULL
  JOIN service_accounts a ON a.id = s.service_account_id AND a.removed_at IS NULL
  ${accountPlaces}
  WHERE ${fenceCheck} AND ${homeIsLive} AND s.expires_at > ${"now"}`

/**
 * Reads the actor of a credential together with the place that the request's path names. On PostgreSQL, a read of a secret takes
 * two round trips, this one and its own. It fails on a server without which the database went on.
 */
export const actorRepo = Effect.map(query, ({ first }) => ({
  findSession: first(SessionActorRow)`${sessionActor} AND s.token_hash = ${"hash"} AND s.kind = ${"kind"}`,
  sessionById: first(SessionActorRow)`${sessionActor} AND s.id = ${"id"}`,
  findDelegation: flow(
    first(DelegationActorRow)`${delegationActor} AND d.token_hash = ${"hash"}`,
    Effect.map(withPlaces)
  ),
  delegationById: flow(first(DelegationActorRow)`${delegationActor} AND d.id = ${"id"}`, Effect.map(withPlaces)),
  findKey: first(KeyActorRow)`${keyActor} AND k.token_hash = ${"hash"}`,
  keyById: first(KeyActorRow)`${keyActor} AND k.id = ${"id"}`,
  findKeySession: first(KeySessionActorRow)`${keySessionActor} AND s.token_hash = ${"hash"}`,
  keySessionById: first(KeySessionActorRow)`${keySessionActor} AND s.id = ${"id"}`,
  findFederated: first(FederatedActorRow)`${federatedActor} AND s.token_hash = ${"hash"}`,
  federatedById: first(FederatedActorRow)`${federatedActor} AND s.id = ${"id"}`
}))
