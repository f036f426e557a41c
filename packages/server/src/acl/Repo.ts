import { Permission, SubjectType } from "@coffer/domain/AclRule"
import { Role } from "@coffer/domain/Member"
import {
  Email,
  type EnvName,
  type OrgId,
  type ProjectName,
  RuleId,
  ServiceAccountId,
  UserId
} from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

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

const MemberRow = Schema.Struct({
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

const ruleColumns = `r.id AS id, r.subject_type AS subject_type, r.subject_id AS subject_id, u.email AS email,
  a.name AS name, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission,
  r.created_by AS created_by, r.created_at AS created_at, r.updated_at AS updated_at`

const ruleTables = `acl_rules r
  LEFT JOIN users u ON r.subject_type = 'user' AND u.id = r.subject_id
  LEFT JOIN service_accounts a ON r.subject_type = 'service_account' AND a.id = r.subject_id`

const member = `SELECT u.id AS id, u.email AS email, u.superadmin AS superadmin, m.role AS role FROM users u
  LEFT JOIN members m ON m.user_id = u.id AND m.org_id = ? AND m.removed_at IS NULL
  WHERE u.email = ?`

const account = `SELECT id, name, project_id, reveal FROM service_accounts
  WHERE org_id = ? AND id = ? AND removed_at IS NULL`

export class AclRepo extends Effect.Service<AclRepo>()("@coffer/server/AclRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const rules = reader.manyRows(RuleRow)
    const members = reader.rows(MemberRow)
    const accounts = reader.rows(AccountRow)
    const grants = reader.rows(GrantRow)
    const places = reader.rows(PlaceRow)
    const first = <A>(rows: ReadonlyArray<A>): A | undefined => rows[0]

    return {
      all: (orgId: OrgId) =>
        rules(`SELECT ${ruleColumns} FROM ${ruleTables} WHERE r.org_id = ? AND r.removed_at IS NULL ORDER BY r.id`, [
          orgId
        ]),

      findMember: (orgId: OrgId, email: Email) => Effect.map(members(member, [orgId, email]), first),
      findAccount: (orgId: OrgId, id: ServiceAccountId) => Effect.map(accounts(account, [orgId, id]), first),

      /** As the two above, inside a transaction of the writing connection. */
      memberForUpdate: (orgId: OrgId, email: Email) =>
        Effect.map(rowsOf(MemberRow)(sql.unsafe(member, [orgId, email])), first),
      accountForUpdate: (orgId: OrgId, id: ServiceAccountId) =>
        Effect.map(rowsOf(AccountRow)(sql.unsafe(account, [orgId, id])), first),

      grantsOf: (orgId: OrgId, subjectId: string) =>
        grants(
          `SELECT id, project_pattern, env_pattern, permission FROM acl_rules
            WHERE subject_id = ? AND org_id = ? AND removed_at IS NULL`,
          [subjectId, orgId]
        ),

      findPlace: (orgId: OrgId, project: ProjectName, env: EnvName) =>
        Effect.map(
          places(
            `SELECT p.id AS project_id, e.id AS env_id FROM projects p
              JOIN environments e ON e.project_id = p.id AND e.name = ? AND e.removed_at IS NULL
              WHERE p.org_id = ? AND p.name = ? AND p.removed_at IS NULL`,
            [env, orgId, project]
          ),
          first
        ),

      count: (orgId: OrgId) =>
        Effect.map(
          rowsOf(CountRow)(sql`SELECT count(*) AS count FROM acl_rules WHERE org_id = ${orgId} AND removed_at IS NULL`),
          (rows) => rows[0]?.count ?? 0
        ),

      countOf: (orgId: OrgId, subjectId: string) =>
        Effect.map(
          rowsOf(CountRow)(
            sql`SELECT count(*) AS count FROM acl_rules
              WHERE subject_id = ${subjectId} AND org_id = ${orgId} AND removed_at IS NULL`
          ),
          (rows) => rows[0]?.count ?? 0
        ),

      find: (orgId: OrgId, id: RuleId) =>
        Effect.map(
          rowsOf(RuleRow)(
            sql.unsafe(
              `SELECT ${ruleColumns} FROM ${ruleTables} WHERE r.id = ? AND r.org_id = ? AND r.removed_at IS NULL`,
              [id, orgId]
            )
          ),
          first
        ),

      findSame: (orgId: OrgId, subjectId: string, projectPattern: string, envPattern: string) =>
        Effect.map(
          rowsOf(RuleRow)(
            sql.unsafe(
              `SELECT ${ruleColumns} FROM ${ruleTables} WHERE r.subject_id = ? AND r.org_id = ?
                AND r.project_pattern = ? AND r.env_pattern = ? AND r.removed_at IS NULL`,
              [subjectId, orgId, projectPattern, envPattern]
            )
          ),
          first
        ),

      insert: (row: Omit<RuleRow, "email" | "name"> & { readonly org_id: OrgId }) =>
        sql`INSERT INTO acl_rules ${sql.insert({ ...row })}`,

      setPermission: (id: RuleId, permission: Permission, now: string) =>
        sql`UPDATE acl_rules SET permission = ${permission}, updated_at = ${now} WHERE id = ${id}`,

      remove: (id: RuleId, now: string) => sql`UPDATE acl_rules SET removed_at = ${now} WHERE id = ${id}`
    } as const
  })
}) {}
