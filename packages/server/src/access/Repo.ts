import { Permission } from "@coffer/domain/AclRule"
import { EnvId, OrgId, ProjectId } from "@coffer/domain/Ids"
import { Role } from "@coffer/domain/Member"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Effect, Schema } from "effect"
import { query } from "../database/Query.js"

const PlaceRow = Schema.Struct({
  org_id: Schema.typeSchema(OrgId),
  org_name: Schema.typeSchema(OrgName),
  role: Schema.NullOr(Role),
  project_id: Schema.NullOr(ProjectId),
  project_name: Schema.NullOr(ProjectName),
  env_id: Schema.NullOr(EnvId),
  env_name: Schema.NullOr(EnvName),
  rule_id: Schema.NullOr(Schema.String),
  project_pattern: Schema.NullOr(Schema.String),
  env_pattern: Schema.NullOr(Schema.String),
  permission: Schema.NullOr(Permission)
})
export type PlaceRow = typeof PlaceRow.Type

/**
 * Reads a place with the actor's role and rules, one row for each rule. For an environment, rules that name another
 * project are omitted.
 */
export class AccessRepo extends Effect.Service<AccessRepo>()("@coffer/server/AccessRepo", {
  effect: Effect.map(query, ({ all }) => {
    const place = all(PlaceRow)`
      SELECT o.id AS org_id, o.name AS org_name, m.role AS role,
        p.id AS project_id, p.name AS project_name, e.id AS env_id, e.name AS env_name,
        r.id AS rule_id, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission
      FROM organizations o
      LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${"actorId"} AND m.removed_at IS NULL
      LEFT JOIN projects p ON p.org_id = o.id AND p.name = ${"project"} AND p.removed_at IS NULL
      LEFT JOIN environments e ON e.project_id = p.id AND e.name = ${"env"} AND e.removed_at IS NULL
      LEFT JOIN acl_rules r ON r.subject_id = ${"actorId"} AND r.org_id = o.id AND r.removed_at IS NULL
        AND (CAST(${"env"} AS TEXT) IS NULL OR r.project_pattern = p.name OR r.project_pattern LIKE '%*%'
          OR r.project_pattern LIKE '%?%' OR r.project_pattern LIKE '%{%')
      WHERE o.name = ${"org"} AND o.removed_at IS NULL`

    return { place } as const
  })
}) {}
