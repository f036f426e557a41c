import { DelegationId, LeaseId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { Role } from "@coffer/domain/directory/Member"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { groupRulesOf, liveEnv, rulesWhere } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"

const HolderRow = Schema.Struct({
  id: LeaseId,
  org_id: OrgId,
  actor_type: Schema.Literal("user", "service_account"),
  delegation_id: Schema.NullOr(DelegationId),
  /** Null if the environment was removed, or has ended. */
  org: Schema.NullOr(OrgName),
  project: Schema.NullOr(ProjectName),
  project_id: Schema.NullOr(ProjectId),
  env: Schema.NullOr(EnvName),
  /** Null if the person is disabled. */
  superadmin: Schema.NullOr(Schema.Number),
  role: Schema.NullOr(Role),
  /** Null if the account was removed, or its key or federation was revoked or has ended. */
  reveal: Schema.NullOr(Schema.Number),
  own_project_id: Schema.NullOr(ProjectId),
  rules: Schema.String,
  group_rules: Schema.String
})
export type HolderRow = typeof HolderRow.Type

const liveCredential = sql`
  (l.key_id IS NULL OR EXISTS (SELECT 1 FROM api_keys k
    WHERE k.id = l.key_id AND k.removed_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${"now"})))
  AND (l.federation_id IS NULL OR EXISTS (SELECT 1 FROM federations f
    WHERE f.id = l.federation_id AND f.removed_at IS NULL AND f.expires_at > ${"now"}))`

/** The live leases with all that the right of their holders depends on, some at a time. */
export const leaseHolders = Effect.map(
  query,
  ({ all }) => all(HolderRow)`
    SELECT l.id AS id, l.org_id AS org_id, l.actor_type AS actor_type, l.delegation_id AS delegation_id,
      o.name AS org, p.name AS project, p.id AS project_id, e.name AS env, u.superadmin AS superadmin, m.role AS role,
      a.reveal AS reveal, a.project_id AS own_project_id,
      ${rulesWhere(sql`r.subject_id = l.actor_id AND r.org_id = l.org_id`)} AS rules,
      ${groupRulesOf(sql`l.actor_id`, sql`l.org_id`)} AS group_rules
    FROM leases l
    LEFT JOIN environments e ON e.id = l.env_id AND ${liveEnv}
    LEFT JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
    LEFT JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL
    LEFT JOIN users u ON l.actor_type = 'user' AND u.id = l.actor_id AND u.disabled_at IS NULL
    LEFT JOIN members m ON m.org_id = l.org_id AND m.user_id = l.actor_id AND m.removed_at IS NULL
    LEFT JOIN service_accounts a ON l.actor_type = 'service_account' AND a.id = l.actor_id AND a.removed_at IS NULL
      AND ${liveCredential}
    WHERE l.state = 'live' AND l.expires_at > ${databaseTime} AND l.id > ${"after"} ORDER BY l.id LIMIT ${"limit"}`
)
