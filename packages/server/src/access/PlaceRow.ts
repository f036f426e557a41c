import { Permission } from "@coffer/domain/AclRule"
import { EnvId, OrgId, ProjectId } from "@coffer/domain/Ids"
import { Role } from "@coffer/domain/Member"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Schema } from "effect"
import { type Sql, sql } from "../database/Query.js"

const belowOrg = {
  role: Schema.NullOr(Role),
  project_id: Schema.NullOr(ProjectId),
  project_name: Schema.NullOr(ProjectName),
  env_id: Schema.NullOr(EnvId),
  env_name: Schema.NullOr(EnvName),
  rule_id: Schema.NullOr(Schema.String),
  project_pattern: Schema.NullOr(Schema.String),
  env_pattern: Schema.NullOr(Schema.String),
  permission: Schema.NullOr(Permission)
}

/** A place with an actor's role there, and one of the actor's rules. */
export const PlaceRow = Schema.Struct({
  org_id: Schema.typeSchema(OrgId),
  org_name: Schema.typeSchema(OrgName),
  ...belowOrg
})
export type PlaceRow = typeof PlaceRow.Type

/** The columns of a place in a row of something else: null if the path names no organization that exists. */
export const placeFields = {
  org_id: Schema.NullOr(OrgId),
  org_name: Schema.NullOr(OrgName),
  ...belowOrg
}

/** A row of something else that has the columns of a place. */
export interface RowWithPlace extends Omit<PlaceRow, "org_id" | "org_name"> {
  readonly org_id: OrgId | null
  readonly org_name: OrgName | null
}

const hasPlace = (row: RowWithPlace): row is RowWithPlace & PlaceRow => row.org_id !== null && row.org_name !== null

export const placesIn = (rows: ReadonlyArray<RowWithPlace>): ReadonlyArray<PlaceRow> => rows.filter(hasPlace)

/** The names of a place, for the statements that join it. */
export interface PlaceNames {
  readonly org: string | null
  readonly project: string | null
  readonly env: string | null
}

export const placeColumns = sql`
  o.id AS org_id, o.name AS org_name, m.role AS role, p.id AS project_id, p.name AS project_name,
  e.id AS env_id, e.name AS env_name,
  r.id AS rule_id, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission`

/** The condition for the organization `o` of a path. */
export const orgOfPath = sql`o.name = ${"org"} AND o.removed_at IS NULL`

/**
 * Joins what is below the organization `o` for an actor, one row for each rule. For an environment, rules that name another
 * project are omitted.
 */
export const joinPlace = <Name extends string>(actorId: Sql<Name>) => sql`
  LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${actorId} AND m.removed_at IS NULL
  LEFT JOIN projects p ON p.org_id = o.id AND p.name = ${"project"} AND p.removed_at IS NULL
  LEFT JOIN environments e ON e.project_id = p.id AND e.name = ${"env"} AND e.removed_at IS NULL
  LEFT JOIN acl_rules r ON r.subject_id = ${actorId} AND r.org_id = o.id AND r.removed_at IS NULL
    AND (CAST(${"env"} AS TEXT) IS NULL OR r.project_pattern = p.name OR r.project_pattern LIKE '%*%'
      OR r.project_pattern LIKE '%?%' OR r.project_pattern LIKE '%{%')`
