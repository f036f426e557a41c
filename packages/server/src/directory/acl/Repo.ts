import { Permission, SubjectType } from "@coffer/domain/AclRule"
import { type OrgId, RuleId, ServiceAccountId, UserId } from "@coffer/domain/Ids"
import { Role } from "@coffer/domain/Member"
import { Email } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"

const RuleRow = Schema.Struct({
  id: RuleId,
  subject_type: SubjectType,
  subject_id: Schema.Union(UserId, ServiceAccountId),
  email: Schema.NullOr(Schema.typeSchema(Email)),
  name: Schema.NullOr(Schema.String),
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: Permission,
  created_by: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type RuleRow = typeof RuleRow.Type

const UserRow = Schema.Struct({
  id: UserId,
  email: Schema.typeSchema(Email),
  superadmin: Schema.Number,
  role: Schema.NullOr(Role)
})

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: Schema.String,
  project_id: Schema.NullOr(Schema.String),
  reveal: Schema.Number
})

const GrantRow = Schema.Struct({
  id: Schema.String,
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: Permission
})

const PlaceRow = Schema.Struct({ project_id: Schema.String, env_id: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

const rules = sql`
  SELECT r.id AS id, r.subject_type AS subject_type, r.subject_id AS subject_id, u.email AS email, a.name AS name,
    r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission,
    r.created_by AS created_by, r.created_at AS created_at, r.updated_at AS updated_at
  FROM acl_rules r
  LEFT JOIN users u ON r.subject_type = 'user' AND u.id = r.subject_id
  LEFT JOIN service_accounts a ON r.subject_type = 'service_account' AND a.id = r.subject_id
  WHERE r.org_id = ${"orgId"} AND r.removed_at IS NULL`

export const aclRepo = Effect.gen(function* () {
  const { all, first, one, write } = yield* query
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
      SELECT u.id AS id, u.email AS email, u.superadmin AS superadmin, m.role AS role FROM users u
      LEFT JOIN members m ON m.user_id = u.id AND m.org_id = ${"orgId"} AND m.removed_at IS NULL
      WHERE u.email = ${"email"}`,

    findAccount: first(AccountRow)`
      SELECT id, name, project_id, reveal FROM service_accounts
      WHERE org_id = ${"orgId"} AND id = ${"id"} AND removed_at IS NULL`,

    grantsOf: all(GrantRow)`
      SELECT id, project_pattern, env_pattern, permission FROM acl_rules
      WHERE subject_id = ${"subjectId"} AND org_id = ${"orgId"} AND removed_at IS NULL`,

    findPlace: first(PlaceRow)`
      SELECT p.id AS project_id, e.id AS env_id FROM projects p
      JOIN environments e ON e.project_id = p.id AND e.name = ${"env"} AND e.removed_at IS NULL
      WHERE p.org_id = ${"orgId"} AND p.name = ${"project"} AND p.removed_at IS NULL`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM acl_rules WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

    countOf: one(CountRow)`
      SELECT count(*) AS count FROM acl_rules
      WHERE subject_id = ${"subjectId"} AND org_id = ${"orgId"} AND removed_at IS NULL`,

    find: first(RuleRow)`${rules} AND r.id = ${"id"}`,

    findSame: first(RuleRow)`
      ${rules} AND r.subject_id = ${"subjectId"}
        AND r.project_pattern = ${"projectPattern"} AND r.env_pattern = ${"envPattern"}`,

    insert: write`
      INSERT INTO acl_rules
        (id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, created_by, created_at, updated_at)
      VALUES (${"id"}, ${"orgId"}, ${"subject_type"}, ${"subject_id"}, ${"project_pattern"}, ${"env_pattern"},
        ${"permission"}, ${"created_by"}, ${"created_at"}, ${"updated_at"})`,

    setPermission: write`
      UPDATE acl_rules SET permission = ${"permission"}, updated_at = ${"now"} WHERE id = ${"id"}`,

    remove: write`UPDATE acl_rules SET removed_at = ${"now"} WHERE id = ${"id"}`
  } as const
})
