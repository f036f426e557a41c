import { DelegationId, EnvId, OrgId, ProjectId, RemovedId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { envsIn } from "../../access/place/RemovedPlaces.js"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database, type Transaction } from "../../database/Database.js"
import { query, sql } from "../../database/Query.js"
import { orgScope } from "../../database/Scopes.js"
import { IdRow } from "../../database/Rows.js"
import { EndingRow, makeRequestEnds } from "../requests/RequestEnds.js"

/** How many rows one transaction ends. */
const atOnce = 100

const TrashRow = Schema.Struct({
  id: RemovedId,
  kind: Schema.Literal("org", "project", "env"),
  org_id: OrgId,
  project_id: Schema.NullOr(ProjectId),
  name: Schema.String
})
/** A removed place that is worked on. */
export type TrashRow = typeof TrashRow.Type

export const trashColumns = sql`
  t.place_id AS id, t.kind AS kind, t.org_id AS org_id, t.project_id AS project_id, t.name AS name`
export { TrashRow }

const DelegationRow = Schema.Struct({
  id: DelegationId,
  name: Schema.String,
  permission: Schema.String,
  project: Schema.String,
  env: Schema.String,
  person: Schema.String
})

const MovedRow = Schema.Struct({ env_id: EnvId })

/** Runs a step in a transaction that holds the scope of an organization. */
export type InOrganization = <A, E>(orgId: OrgId, step: Effect.Effect<A, E, Transaction>) => Effect.Effect<A, E>

/**
 * Ends what does not outlast a removal: requests, delegations, uses that wait for a person, sessions of service accounts, exports. A
 * caller chooses how many they are, so they end some at a time, after the removal: nobody can use them meanwhile.
 */
export const makeSettling = Effect.gen(function* () {
  const audit = yield* AuditLog
  const endRequest = yield* makeRequestEnds
  const { change } = yield* Database
  const { all, first, returning, write } = yield* query

  const unsettled = first(TrashRow)`
    SELECT ${trashColumns} FROM trash t WHERE t.place_id = ${"id"} AND t.org_id = ${"orgId"} AND t.settled = 0`

  const pending = all(EndingRow)`
    SELECT r.id AS id, b.project AS project, b.env AS env, r.actor_name AS actor_name
    FROM ${envsIn} JOIN requests r ON r.env_id = b.id AND r.state = 'pending'
    WHERE r.call IS NULL OR r.call NOT LIKE 'trash.%' ORDER BY r.id LIMIT ${"limit"}`

  const delegations = all(DelegationRow)`
    SELECT d.id AS id, d.name AS name, d.permission AS permission, b.project AS project, b.env AS env, u.email AS person
    FROM ${envsIn} JOIN delegations d ON d.env_id = b.id JOIN users u ON u.id = d.user_id ORDER BY d.id LIMIT ${"limit"}`

  const endDelegation = returning(IdRow)`DELETE FROM delegations WHERE id = ${"delegation"} RETURNING id`

  /** Delegations lose the environments that are not their first. */
  const narrowed = returning(IdRow)`
    DELETE FROM delegation_environments WHERE (delegation_id, env_id) IN (
      SELECT x.delegation_id, x.env_id FROM ${envsIn} JOIN delegation_environments x ON x.env_id = b.id
      LIMIT ${"limit"}) RETURNING delegation_id AS id`

  /** The next environment of a delegation becomes its first. No row if it has no other. */
  const moved = returning(MovedRow)`
    UPDATE delegations SET env_id = (
      SELECT x.env_id FROM delegation_environments x WHERE x.delegation_id = delegations.id ORDER BY x.position LIMIT 1)
    WHERE id = ${"delegation"} AND EXISTS (
      SELECT 1 FROM delegation_environments x WHERE x.delegation_id = delegations.id) RETURNING env_id`

  const taken = write`
    DELETE FROM delegation_environments WHERE delegation_id = ${"delegation"} AND env_id = ${"envId"}`

  const approvals = returning(IdRow)`
    DELETE FROM approvals WHERE id IN (
      SELECT a.id FROM ${envsIn} JOIN approvals a ON a.env_id = b.id LIMIT ${"limit"}) RETURNING id`

  const accounts = sql`service_accounts s WHERE s.org_id = ${"id"} OR s.project_id = ${"id"}`

  const keySessions = returning(IdRow)`
    DELETE FROM key_sessions WHERE id IN (
      SELECT x.id FROM key_sessions x JOIN api_keys k ON k.id = x.key_id
      WHERE k.service_account_id IN (SELECT s.id FROM ${accounts}) LIMIT ${"limit"}) RETURNING id`

  const federatedSessions = returning(IdRow)`
    DELETE FROM federated_sessions WHERE id IN (
      SELECT x.id FROM federated_sessions x
      WHERE x.service_account_id IN (SELECT s.id FROM ${accounts}) LIMIT ${"limit"}) RETURNING id`

  const exports = returning(IdRow)`
    DELETE FROM exports WHERE id IN (SELECT x.id FROM exports x WHERE x.org_id = ${"id"} LIMIT ${"limit"}) RETURNING id`

  const settled = write`UPDATE trash SET settled = 1 WHERE place_id = ${"id"}`

  const whatOf = ({ kind, name }: TrashRow): string =>
    `${kind === "org" ? "organization" : kind === "env" ? "environment" : kind} ${name} was removed`

  const endRequests = (row: TrashRow) =>
    Effect.gen(function* () {
      const found = yield* pending({ id: row.id, limit: atOnce })
      for (const request of found) {
        yield* endRequest(request, systemSource("trash", row.org_id), "outdate", { outdated: [whatOf(row)] })
      }
      return found
    })

  const endDelegations = (row: TrashRow) =>
    Effect.gen(function* () {
      const others = yield* narrowed({ id: row.id, limit: atOnce })
      if (others.length === atOnce) return others
      const found = yield* delegations({ id: row.id, limit: atOnce })
      for (const { env, id, name, permission, person, project } of found) {
        const [first] = yield* moved({ delegation: id })
        if (first !== undefined) {
          yield* taken({ delegation: id, envId: first.env_id })
          continue
        }
        if ((yield* endDelegation({ delegation: id })).length === 0) continue
        yield* audit.change(
          { ...systemSource("trash", row.org_id), project, env },
          {
            action: "delegation.revoke",
            resource_type: "delegation",
            resource_id: id,
            metadata: { name, permission, person, because: whatOf(row) }
          }
        )
      }
      return found
    })

  /** Ends some rows of each kind. Returns whether there may be more; else, the place is settled. */
  const settleSome = Effect.fnUntraced(function* (row: TrashRow) {
    const batch = { id: row.id, limit: atOnce }
    const ended = [
      yield* endRequests(row),
      yield* endDelegations(row),
      yield* approvals(batch),
      ...(row.kind === "env" ? [] : [yield* keySessions(batch), yield* federatedSessions(batch)]),
      ...(row.kind === "org" ? [yield* exports(batch)] : [])
    ]
    const hasMore = ended.some(({ length }) => length === atOnce)
    if (!hasMore) yield* settled({ id: row.id })
    return hasMore
  })

  /** Ends everything, in transactions of some rows each. */
  const settle = (row: TrashRow, inOrganization: InOrganization): Effect.Effect<void> =>
    Effect.asVoid(Effect.repeat(inOrganization(row.org_id, settleSome(row)), { while: (hasMore) => hasMore }))

  /** Each transaction by itself, for a request. */
  const atOneTime: InOrganization = (orgId, step) => change([orgScope(orgId)], step)

  /** Ends what is left of a removed place, unless that was done. */
  const settlePlace = (orgId: OrgId, id: string) =>
    Effect.flatMap(unsettled({ orgId, id }), (row) => (row === undefined ? Effect.void : settle(row, atOneTime)))

  return {
    settle,
    settlePlace,

    /** The same after the commit of a removal. What is cut off here, maintenance completes. */
    settleRemoved: ({ id, orgId }: { readonly orgId: OrgId; readonly id: string }) =>
      Effect.catchAllCause(settlePlace(orgId, id), (cause) =>
        Effect.logWarning("requests and delegations of what was removed are not ended yet: maintenance does it", cause)
      ),

    inOrganization: atOneTime
  } as const
})
