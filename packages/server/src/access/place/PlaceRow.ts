import { permissions } from "@coffer/domain/access/AclRule"
import { EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { allKeys } from "@coffer/domain/secrets/KeyPatterns"
import * as Schema from "effect/Schema"
import { databaseTime, type Sql, sql } from "../../database/Query.js"
import type { Grant } from "./Decisions.js"

/** The columns of a place with an actor's role and rules there. Null if nothing has the name. */
export const placeFields = {
  org_id: Schema.NullOr(OrgId),
  org_name: Schema.NullOr(OrgName),
  role: Schema.NullOr(Role),
  /** The membership that the actor has not accepted yet; null if there is none. */
  invitation: Schema.NullOr(Schema.String),
  project_id: Schema.NullOr(ProjectId),
  project_name: Schema.NullOr(ProjectName),
  env_id: Schema.NullOr(EnvId),
  env_name: Schema.NullOr(EnvName),
  env_protected: Schema.NullOr(Schema.Number),
  env_secrets: Schema.NullOr(Schema.Number),
  env_bytes: Schema.NullOr(Schema.Number),
  rules: Schema.String,
  group_rules: Schema.String
}

export const PlaceRow = Schema.Struct(placeFields)
export type PlaceRow = typeof PlaceRow.Type

export interface Named<Id, Name> {
  readonly id: Id
  readonly name: Name
}

/** How much an environment holds. */
export interface Extent {
  readonly secrets: number
  /** The values together. */
  readonly bytes: number
}

/** A place by the names of a path, with an actor's role and rules there. */
export interface FoundPlace {
  readonly org: Named<OrgId, OrgName>
  /** Null if the path names no project, or one that does not exist. */
  readonly project: Named<ProjectId, ProjectName> | null
  readonly env: Named<EnvId, EnvName> | null
  /** Whether changes of the environment need votes. */
  readonly isProtected: boolean
  readonly extent: Extent
  readonly role: Role | null
  /** The id of a membership that the actor has not accepted yet. */
  readonly invitation: string | null
  readonly grants: ReadonlyArray<Grant>
}

const named = <Id, Name>(id: Id | null, name: Name | null): Named<Id, Name> | null =>
  id === null || name === null ? null : { id, name }

/** The words of a rule in a column: id, patterns of projects and environments, permission, pattern of keys, 1 if it denies. */
const wordsOfRule = 6

/** The rules of a column. What is no rule grants nothing. */
export const grantsIn = (rules: string): ReadonlyArray<Grant> => {
  const found: Array<Grant> = []
  const words = rules.split(" ")
  if (words.length % wordsOfRule !== 0) return found
  for (let at = 0; at < words.length; at += wordsOfRule) {
    const [id = "", project_pattern = "", env_pattern = ""] = [words[at], words[at + 1], words[at + 2]]
    const permission = permissions.find((one) => one === words[at + 3])
    if (permission === undefined) continue
    const [key_pattern = allKeys, denies] = [words[at + 4], words[at + 5] === "1"]
    found.push({ id, project_pattern, env_pattern, permission, key_pattern, denies })
  }
  return found
}

/** An actor's own rules, and those of its groups. */
export const grantsOf = ({ group_rules, rules }: Pick<PlaceRow, "rules" | "group_rules">): ReadonlyArray<Grant> =>
  group_rules === "" ? grantsIn(rules) : [...grantsIn(rules), ...grantsIn(group_rules)]

/** The place of a row. Null if the organization does not exist. */
export const placeIn = (row: PlaceRow): FoundPlace | null => {
  const org = named(row.org_id, row.org_name)
  return org === null
    ? null
    : {
        org,
        project: named(row.project_id, row.project_name),
        env: named(row.env_id, row.env_name),
        isProtected: row.env_protected === 1,
        extent: { secrets: row.env_secrets ?? 0, bytes: row.env_bytes ?? 0 },
        role: row.role,
        invitation: row.invitation,
        grants: grantsOf(row)
      }
}

/** The names of a place, for the statements that join it. */
export interface PlaceNames {
  readonly org: string | null
  readonly project: string | null
  readonly env: string | null
}

/** The rules `r` that were neither revoked nor have ended. */
export const liveRule = sql`r.removed_at IS NULL AND (r.expires_at IS NULL OR r.expires_at > ${databaseTime})`

/** The environments under an alias that were neither removed nor have ended. */
export const liveAs = (alias: string): Sql<never> =>
  sql([`${alias}.removed_at IS NULL AND (${alias}.expires_at IS NULL OR ${alias}.expires_at > `, ")"], databaseTime)

export const liveEnv = liveAs("e")

/**
 * The rules `r` of a source with a condition as one column: a row for each would repeat all other columns. Ids, patterns and
 * permissions have no space. It takes half the time of JSON, and so does reading it.
 */
const rulesIn = <Name extends string>(source: Sql<Name>) => sql`
  (SELECT coalesce(string_agg(
      concat_ws(' ', r.id, r.project_pattern, r.env_pattern, r.permission, r.key_pattern, r.denies), ' '), '')
    FROM ${source})`

/** The rules of subjects themselves. */
export const rulesWhere = <Name extends string>(condition: Sql<Name>) =>
  rulesIn(sql`acl_rules r WHERE ${condition} AND ${liveRule}`)

/** The members `m` who have accepted: their organization may be told of them, and mail them. */
export const acceptedMember = sql`m.removed_at IS NULL AND m.accepted_at IS NOT NULL`

/**
 * The condition for groups `lg` of logins that have not ended. They end by the database's clock, before maintenance deletes
 * them.
 */
export const unendedLogin = sql`lg.expires_at > ${databaseTime}`

/**
 * The same for those that still count: the person's last login brought them too. A login replaces those names at once, and the rows
 * of the organizations in steps.
 */
export const liveLogin = sql`${unendedLogin} AND EXISTS (
  SELECT 1 FROM provider_groups pg WHERE pg.user_id = lg.user_id AND pg.provider_group = lg.provider_group)`

/** The groups of the provider that logins brought and that still count, with the groups `gx` that they count as. */
export const loginGroups = sql`
  login_groups lg CROSS JOIN group_mappings gx
  WHERE gx.org_id = lg.org_id AND gx.provider_group = lg.provider_group AND ${liveLogin}`

/**
 * The live rules `r` of a person's groups `mine` in an organization: those that the person was put into, and those that a login
 * brought. A UNION has each group once. A CROSS JOIN makes SQLite begin with the groups: otherwise, it would go through all rules
 * of the organization.
 */
export const groupRules = <User extends string, Org extends string>(userId: Sql<User>, orgId: Sql<Org>) => sql`
  (SELECT gm.group_id AS group_id FROM group_members gm WHERE gm.user_id = ${userId} AND gm.org_id = ${orgId}
    UNION
    SELECT gx.group_id FROM ${loginGroups} AND lg.user_id = ${userId} AND lg.org_id = ${orgId}) mine
  CROSS JOIN acl_rules r
  WHERE r.subject_id = mine.group_id AND r.org_id = ${orgId} AND ${liveRule}`

/** The rules of a person's groups as one column. */
export const groupRulesOf = <User extends string, Org extends string>(userId: Sql<User>, orgId: Sql<Org>) =>
  rulesIn(groupRules(userId, orgId))

/** For an environment, rules that name another project are omitted. */
const aboutPlace = sql`(CAST(${"env"} AS TEXT) IS NULL OR r.project_pattern = p.name OR r.project_pattern LIKE '%*%'
      OR r.project_pattern LIKE '%?%' OR r.project_pattern LIKE '%{%')`

const columns = <Name extends string>(actorId: Sql<Name>) => sql`
  o.id AS org_id, o.name AS org_name, m.role AS role,
  CASE WHEN m.accepted_at IS NULL THEN m.id END AS invitation, p.id AS project_id, p.name AS project_name,
  e.id AS env_id, e.name AS env_name, e.protected AS env_protected,
  e.secret_count AS env_secrets, e.value_bytes AS env_bytes,
  ${rulesWhere(sql`r.subject_id = ${actorId} AND r.org_id = o.id AND ${aboutPlace}`)} AS rules`

/** The columns of a place for an actor, with the rules of a person's groups. */
export const placeColumns = <Name extends string>(actorId: Sql<Name>) => sql`
  ${columns(actorId)},
  ${rulesIn(sql`${groupRules(actorId, sql`o.id`)} AND ${aboutPlace}`)} AS group_rules`

/** The same for a service account, which is in no group. */
export const accountPlaceColumns = <Name extends string>(actorId: Sql<Name>) => sql`
  ${columns(actorId)}, '' AS group_rules`

/** The condition for the organization `o` of a path. */
export const orgOfPath = sql`o.name = ${"org"} AND o.removed_at IS NULL`

/** Joins what is below the organization `o` for an actor. */
export const joinPlace = <Name extends string>(actorId: Sql<Name>) => sql`
  LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${actorId} AND m.removed_at IS NULL
  LEFT JOIN projects p ON p.org_id = o.id AND p.name = ${"project"} AND p.removed_at IS NULL
  LEFT JOIN environments e ON e.project_id = p.id AND e.name = ${"env"} AND ${liveEnv}`
