import { EnvId, OrgId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query, type Sql, sql } from "../../database/Query.js"

/** The removed places `t` that can still be restored. */
export const restorable = sql`t.erasing = 0 AND t.restorable_until > ${databaseTime}`

const OrgRow = Schema.Struct({ id: OrgId, name: OrgName, role: Schema.NullOr(Role) })
const ProtectedRow = Schema.Struct({ env_id: EnvId, project: ProjectName, env: EnvName })
export type ProtectedRow = typeof ProtectedRow.Type

const envs = sql`
  SELECT e.id AS id, e.name AS env, e.protected AS is_protected, e.removed_at AS removed_at,
    p.id AS project_id, p.name AS project, p.removed_at AS project_removed_at
  FROM environments e JOIN projects p ON p.id = e.project_id`

/** The environments `b` in a place, removed ones too; only itself, if it is one. */
export const envsIn = sql`(
  ${envs} WHERE e.id = ${"id"} UNION ALL ${envs} WHERE e.project_id = ${"id"} UNION ALL ${envs} WHERE p.org_id = ${"id"}) b`

const isInTrash = (column: Sql<never>) => sql`EXISTS (SELECT 1 FROM trash t WHERE t.place_id = ${column})`

const protectedOf = <Name extends string>(condition: Sql<Name>) => sql`
  SELECT x.id AS env_id, y.name AS project, x.name AS env
  FROM (
    SELECT min(t.env_id) AS env_id FROM ${envsIn} JOIN protections t ON t.env_id = b.id AND t.removed_at IS NULL
    WHERE b.is_protected = 1 AND ${condition}
    GROUP BY t.needed, t.approvers, t.self, t.break_glass, t.passkey) one
  JOIN environments x ON x.id = one.env_id JOIN projects y ON y.id = x.project_id
  ORDER BY y.name, x.name, x.id LIMIT ${"limit"}`

/** Reads removed places for those who may restore them. */
export const removedRepo = Effect.map(query, ({ all, first }) => ({
  org: first(OrgRow)`
    SELECT o.id AS id, o.name AS name, m.role AS role
    FROM trash t JOIN organizations o ON o.id = t.place_id AND o.removed_at IS NOT NULL
    LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${"actorId"} AND m.removed_at IS NULL
    WHERE t.place_id = ${"id"} AND t.kind = 'org' AND ${restorable}`,

  /** The protected environments that come back with a removed place: one for each kind of votes. */
  protectedReturning: all(ProtectedRow)`
    ${protectedOf(sql`(b.id = ${"id"} OR b.removed_at IS NULL AND (b.project_id = ${"id"} OR b.project_removed_at IS NULL))`)}`,

  /** The protected environments whose values go with a removed place. */
  protectedGoing: all(ProtectedRow)`
    ${protectedOf(sql`(b.id = ${"id"} OR b.removed_at IS NULL OR ${isInTrash(sql`b.id`)})
      AND (b.project_removed_at IS NULL OR b.project_id = ${"id"} OR b.id = ${"id"} OR ${isInTrash(sql`b.project_id`)})`)}`
}))
