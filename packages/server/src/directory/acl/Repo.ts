import { Permission, RuleSubjectType } from "@coffer/domain/access/AclRule"
import { GroupId, type OrgId, RequestId, RuleId, ServiceAccountId, UserId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { allKeys } from "@coffer/domain/secrets/KeyPatterns"
import { Email, GroupName } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { groupRules, liveEnv, liveRule, loginGroups } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"

export const RuleRow = Schema.Struct({
  id: RuleId,
  subject_type: RuleSubjectType,
  subject_id: Schema.Union(UserId, ServiceAccountId, GroupId),
  email: Schema.NullOr(Schema.typeSchema(Email)),
  name: Schema.NullOr(Schema.String),
  group_name: Schema.NullOr(GroupName),
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: Permission,
  key_pattern: Schema.String,
  denies: Schema.Number,
  expires_at: Schema.NullOr(Schema.Number),
  request_id: Schema.NullOr(RequestId),
  created_by: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type RuleRow = typeof RuleRow.Type

/** The keys of a rule, where they are not all, and whether it denies. */
export const keysOfRule = ({
  denies,
  key_pattern
}: Pick<RuleRow, "denies" | "key_pattern">): { readonly key_pattern?: string; readonly denies?: true } => ({
  ...(key_pattern !== allKeys && { key_pattern }),
  ...(denies === 1 && { denies: true })
})

const SameRow = Schema.Struct({ ...RuleRow.fields, has_ended: Schema.Literal(0, 1) })

const UserRow = Schema.Struct({
  id: UserId,
  email: Schema.typeSchema(Email),
  superadmin: Schema.Number,
  role: Schema.NullOr(Role),
  accepted_at: Schema.NullOr(Schema.String)
})

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: Schema.String,
  project_id: Schema.NullOr(Schema.String),
  reveal: Schema.Number
})

/** The columns of a rule on which decisions depend. */
export const grantFields = {
  id: Schema.String,
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: Permission,
  key_pattern: Schema.String,
  denies: Schema.Number,
  expires_at: Schema.NullOr(Schema.Number)
}
const GrantRow = Schema.Struct(grantFields)

export const grantColumns = sql`r.id AS id, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern,
  r.permission AS permission, r.key_pattern AS key_pattern, r.denies AS denies, r.expires_at AS expires_at`

/** A rule of a row, as decisions take it. */
export const grantOf = <Row extends typeof GrantRow.Type>({ denies, ...rule }: Row) => ({
  ...rule,
  denies: denies === 1
})

const GroupGrantRow = Schema.Struct({
  ...GrantRow.fields,
  group_name: GroupName,
  /** When the membership ends; null if the person was put into the group. */
  member_until: Schema.NullOr(Schema.Number)
})
const NamedGroupRow = Schema.Struct({ id: GroupId, name: GroupName })

const PlaceRow = Schema.Struct({ project_id: Schema.String, env_id: Schema.String })

/** The columns of a row, of `r` and the joins of `ruleSubjects`. */
export const ruleColumns = sql` r.id AS id, r.subject_type AS subject_type, r.subject_id AS subject_id, u.email AS email, a.name AS name,
    g.name AS group_name, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission,
    r.key_pattern AS key_pattern, r.denies AS denies, r.expires_at AS expires_at, r.request_id AS request_id, r.created_by AS created_by, r.created_at AS created_at, r.updated_at AS updated_at`

export const ruleSubjects = sql`
  LEFT JOIN users u ON r.subject_type = 'user' AND u.id = r.subject_id
  LEFT JOIN service_accounts a ON r.subject_type = 'service_account' AND a.id = r.subject_id
  LEFT JOIN groups g ON r.subject_type = 'group' AND g.id = r.subject_id`

const rules = sql`SELECT ${ruleColumns} FROM acl_rules r ${ruleSubjects} WHERE r.org_id = ${"orgId"} AND ${liveRule}`

/** The rule of a subject for the same patterns, but for those of approved requests: they end, and stay as they are. */
const same = sql`
  r.subject_id = ${"subjectId"} AND r.org_id = ${"orgId"}
    AND r.project_pattern = ${"projectPattern"} AND r.env_pattern = ${"envPattern"}
    AND r.key_pattern = ${"keyPattern"} AND r.denies = ${"denies"} AND r.request_id IS NULL`

export const aclRepo = Effect.gen(function* () {
  const { all, first, insert, lockingSoon, one, returning, write } = yield* query
  const pages = yield* allPages

  const page = all(RuleRow)`${rules} AND r.id > ${"after"} ORDER BY r.id LIMIT ${"limit"}`

  return {
    /** The rules of an organization, oldest first. */
    all: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => page({ orgId, after, limit }),
        ({ id }): string => id
      ),

    /** The role is null for a user who is not a member. */
    findUser: first(UserRow)`
      SELECT u.id AS id, u.email AS email, u.superadmin AS superadmin, m.role AS role, m.accepted_at AS accepted_at
      FROM users u
      LEFT JOIN members m ON m.user_id = u.id AND m.org_id = ${"orgId"} AND m.removed_at IS NULL
      WHERE u.email = ${"email"}`,

    findAccount: first(AccountRow)`
      SELECT id, name, project_id, reveal FROM service_accounts
      WHERE org_id = ${"orgId"} AND id = ${"id"} AND removed_at IS NULL`,

    /** With their ends. */
    grantsOf: flow(
      all(GrantRow)`
      SELECT ${grantColumns} FROM acl_rules r WHERE r.subject_id = ${"subjectId"} AND r.org_id = ${"orgId"} AND ${liveRule}`,
      Effect.map(Array.map(grantOf))
    ),

    findGroup: first(NamedGroupRow)`
      SELECT id, name FROM groups WHERE org_id = ${"orgId"} AND name = ${"name"} AND removed_at IS NULL`,

    /** The rules of a person's groups. */
    groupGrantsOf: flow(
      all(GroupGrantRow)`
      SELECT ${grantColumns}, (SELECT g.name FROM groups g WHERE g.id = r.subject_id) AS group_name,
        CASE WHEN EXISTS (SELECT 1 FROM group_members gm
            WHERE gm.user_id = ${"subjectId"} AND gm.org_id = ${"orgId"} AND gm.group_id = r.subject_id) THEN NULL
          ELSE (SELECT max(lg.expires_at) FROM ${loginGroups}
            AND lg.user_id = ${"subjectId"} AND lg.org_id = ${"orgId"} AND gx.group_id = r.subject_id)
          END AS member_until
      FROM ${groupRules(sql`${"subjectId"}`, sql`${"orgId"}`)}`,
      Effect.map(Array.map(grantOf))
    ),

    findPlace: first(PlaceRow)`
      SELECT p.id AS project_id, e.id AS env_id FROM projects p
      JOIN environments e ON e.project_id = p.id AND e.name = ${"env"} AND ${liveEnv}
      WHERE p.org_id = ${"orgId"} AND p.name = ${"project"} AND p.removed_at IS NULL`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM acl_rules r WHERE r.org_id = ${"orgId"} AND ${liveRule}`,

    countOfGroups: one(CountRow)`
      SELECT count(*) AS count FROM acl_rules r
      WHERE r.org_id = ${"orgId"} AND r.subject_type = 'group' AND ${liveRule}`,

    countOf: one(CountRow)`
      SELECT count(*) AS count FROM acl_rules r
      WHERE r.subject_id = ${"subjectId"} AND r.org_id = ${"orgId"} AND ${liveRule}`,

    find: first(RuleRow)`${rules} AND r.id = ${"id"}`,

    /** Locks the rule that `findSame` finds: maintenance could remove it meanwhile. */
    holdSame: lockingSoon`SELECT r.id FROM acl_rules r WHERE ${same} AND r.removed_at IS NULL`,

    /** Also one that has ended. */
    findSame: first(SameRow)`
      SELECT ${ruleColumns}, CASE WHEN r.expires_at <= ${databaseTime} THEN 1 ELSE 0 END AS has_ended
      FROM acl_rules r ${ruleSubjects} WHERE ${same} AND r.removed_at IS NULL`,

    insert: insert("acl_rules", [
      ...["id", "org_id", "subject_type", "subject_id", "project_pattern", "env_pattern", "permission"],
      ...["key_pattern", "denies", "expires_at"],
      ...["created_by", "created_at", "updated_at"]
    ]),

    set: write`
      UPDATE acl_rules SET permission = ${"permission"}, expires_at = ${"expires_at"}, updated_at = ${"now"}
      WHERE id = ${"id"}`,

    remove: returning(idRow(RuleId))`
      UPDATE acl_rules SET removed_at = ${"now"} WHERE id = ${"id"} AND removed_at IS NULL RETURNING id`
  } as const
})
