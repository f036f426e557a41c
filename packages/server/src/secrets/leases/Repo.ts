import { ConnectionId, DelegationId, EnvId, LeaseId, LeaseRoleId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, LeaseRoleName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { leaseStates } from "@coffer/domain/secrets/Lease"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"

const fields = {
  id: LeaseId,
  role_id: LeaseRoleId,
  role: LeaseRoleName,
  connection_id: ConnectionId,
  actor_id: Schema.String,
  actor_name: Schema.String,
  delegation_id: Schema.NullOr(DelegationId),
  username: Schema.String,
  state: Schema.Literal(...leaseStates),
  ended: Schema.NullOr(Schema.String),
  expires_at: Schema.Number,
  renewable_until: Schema.Number,
  due_at: Schema.Number,
  failures: Schema.Number,
  problem: Schema.NullOr(Schema.String),
  created_at: Schema.String
}
const LeaseRow = Schema.Struct(fields)
export type LeaseRow = typeof LeaseRow.Type

/** A lease with its place and the statements that remove its user, for the job: of removed places too. */
const PlacedLeaseRow = Schema.Struct({
  ...fields,
  revoke_sql: Schema.String,
  /** Whether the values of its place wait for its end, to be erased. */
  is_erasing: Schema.Literal(0, 1),
  org_id: OrgId,
  org: OrgName,
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName
})
export type PlacedLeaseRow = typeof PlacedLeaseRow.Type

const DueRow = Schema.Struct({ id: LeaseId, org_id: OrgId })
const NamedUserRow = Schema.Struct({ username: Schema.String })
const id = idRow(LeaseId)

const columns = sql`
  l.id AS id, l.role_id AS role_id, r.name AS role, r.connection_id AS connection_id, l.actor_id AS actor_id,
  l.actor_name AS actor_name, l.delegation_id AS delegation_id, l.username AS username, l.state AS state, l.ended AS ended,
  l.expires_at AS expires_at, l.renewable_until AS renewable_until, l.due_at AS due_at, l.failures AS failures,
  l.problem AS problem, l.created_at AS created_at`

const from = sql`FROM leases l JOIN lease_roles r ON r.id = l.role_id`

const placed = sql`
  JOIN environments e ON e.id = l.env_id JOIN projects p ON p.id = e.project_id JOIN organizations o ON o.id = p.org_id`

const isDue = sql`l.due_at <= ${databaseTime}`

export const leasesRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query

  return {
    ofEnv: all(LeaseRow)`SELECT ${columns} ${from} WHERE l.env_id = ${"envId"} ORDER BY l.id DESC`,

    ofCaller: all(LeaseRow)`
      SELECT ${columns} ${from} WHERE l.env_id = ${"envId"} AND l.actor_id = ${"actorId"} ORDER BY l.id DESC`,

    find: first(LeaseRow)`SELECT ${columns} ${from} WHERE l.env_id = ${"envId"} AND l.id = ${"id"}`,

    byIdempotency: first(LeaseRow)`
      SELECT ${columns} ${from}
      WHERE l.env_id = ${"envId"} AND l.actor_id = ${"actorId"} AND l.idempotency = ${"idempotency"}`,

    count: one(CountRow)`SELECT count(*) AS count FROM leases WHERE env_id = ${"envId"}`,

    countOfCaller: one(CountRow)`
      SELECT count(*) AS count FROM leases WHERE env_id = ${"envId"} AND actor_id = ${"actorId"}`,

    insert: insert("leases", [
      ...["id", "org_id", "env_id", "role_id", "actor_type", "actor_id", "actor_name", "delegation_id", "key_id"],
      ...["federation_id", "idempotency", "username", "state", "expires_at", "renewable_until", "due_at", "failures"],
      ...["created_at"]
    ]),

    made: returning(id)`
      UPDATE leases SET state = 'live', due_at = ${"dueAt"} WHERE id = ${"id"} AND state = 'making' RETURNING id`,

    renew: returning(id)`
      UPDATE leases SET due_at = CASE WHEN due_at = expires_at THEN ${"expiresAt"} ELSE due_at END,
        expires_at = ${"expiresAt"}
      WHERE id = ${"id"} AND state = 'live' RETURNING id`,

    end: returning(id)`
      UPDATE leases SET state = 'ending', ended = ${"reason"}, due_at = 0
      WHERE id = ${"id"} AND state <> 'ending' RETURNING id`,

    due: all(DueRow)`
      SELECT l.id AS id, l.org_id AS org_id FROM leases l WHERE ${isDue} ORDER BY l.due_at, l.id LIMIT ${"limit"}`,

    findDue: first(PlacedLeaseRow)`
      SELECT ${columns}, r.revoke_sql AS revoke_sql, o.id AS org_id, o.name AS org, p.id AS project_id, p.name AS project,
        e.id AS env_id, e.name AS env, CASE WHEN EXISTS (
          SELECT 1 FROM trash t WHERE t.place_id IN (e.id, p.id, o.id) AND t.erasing = 1) THEN 1 ELSE 0 END AS is_erasing
      ${from} ${placed} WHERE l.id = ${"id"} AND ${isDue}`,

    /** Frees the key of a lease that may not be repeated any more. */
    forget: write`UPDATE leases SET idempotency = NULL, due_at = expires_at WHERE id = ${"id"} AND state = 'live'`,

    fail: returning(id)`
      UPDATE leases SET failures = failures + 1, problem = ${"problem"}, due_at = ${"dueAt"}
      WHERE id = ${"id"} AND state = 'ending' AND failures = ${"failures"} RETURNING id`,

    remove: returning(id)`DELETE FROM leases WHERE id = ${"id"} AND state = 'ending' RETURNING id`,

    countAll: one(CountRow)`SELECT count(*) AS count FROM leases`,

    /** The users of all leases by a connection. */
    usersOf: all(NamedUserRow)`
      SELECT l.username AS username ${from} WHERE r.connection_id = ${"connectionId"}`
  } as const
})
