import { Permission } from "@coffer/domain/AclRule"
import { EnvId, OrgId, ProjectId } from "@coffer/domain/Ids"
import { Role } from "@coffer/domain/Member"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import * as Schema from "effect/Schema"
import { type Sql, sql } from "../database/Query.js"
import type { Grant } from "./Decisions.js"

/** The columns of a place with an actor's role there, and of one of the actor's rules. Null if nothing has the name. */
export const placeFields = {
  org_id: Schema.NullOr(OrgId),
  org_name: Schema.NullOr(OrgName),
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

export const PlaceRow = Schema.Struct(placeFields)
export type PlaceRow = typeof PlaceRow.Type

export interface Named<Id, Name> {
  readonly id: Id
  readonly name: Name
}

/** A place by the names of a path, with an actor's role and rules there. */
export interface FoundPlace {
  readonly org: Named<OrgId, OrgName>
  /** Null if the path names no project, or one that does not exist. */
  readonly project: Named<ProjectId, ProjectName> | null
  readonly env: Named<EnvId, EnvName> | null
  readonly role: Role | null
  readonly grants: ReadonlyArray<Grant>
}

const named = <Id, Name>(id: Id | null, name: Name | null): Named<Id, Name> | null =>
  id === null || name === null ? null : { id, name }

/** The rules of rows. */
export const grantsIn = (
  rows: ReadonlyArray<Pick<PlaceRow, "rule_id" | "project_pattern" | "env_pattern" | "permission">>
): ReadonlyArray<Grant> => {
  const grants: Array<Grant> = []
  for (const { env_pattern, permission, project_pattern, rule_id } of rows) {
    if (rule_id !== null && project_pattern !== null && env_pattern !== null && permission !== null) {
      grants.push({ id: rule_id, project_pattern, env_pattern, permission })
    }
  }
  return grants
}

/** The place of rows, one for each rule of the actor. Null if the organization does not exist. */
export const placeIn = (rows: ReadonlyArray<PlaceRow>): FoundPlace | null => {
  const [row] = rows
  const org = row === undefined ? null : named(row.org_id, row.org_name)
  return row === undefined || org === null
    ? null
    : {
        org,
        project: named(row.project_id, row.project_name),
        env: named(row.env_id, row.env_name),
        role: row.role,
        grants: grantsIn(rows)
      }
}

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
