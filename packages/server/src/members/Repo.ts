import { Role } from "@coffer/domain/Member"
import { Email, type OrgId, UserId } from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const MemberRow = Schema.Struct({
  user_id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  role: Role,
  created_at: Schema.String
})

const CountRow = Schema.Struct({ count: Schema.Number })
const IdRow = Schema.Struct({ id: Schema.String })

const columns = "m.user_id AS user_id, u.email AS email, u.name AS name, m.role AS role, m.created_at AS created_at"

export class MembersRepo extends Effect.Service<MembersRepo>()("@coffer/server/MembersRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const members = reader.manyRows(MemberRow)

    const counted = <E>(statement: Effect.Effect<ReadonlyArray<unknown>, E>) =>
      Effect.map(rowsOf(CountRow)(statement), (rows) => rows[0]?.count ?? 0)

    return {
      all: (orgId: OrgId) =>
        members(
          `SELECT ${columns} FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.org_id = ? AND m.removed_at IS NULL ORDER BY u.email`,
          [orgId]
        ),

      find: (orgId: OrgId, userId: UserId) =>
        Effect.map(
          rowsOf(MemberRow)(
            sql`SELECT ${sql.unsafe(columns)} FROM members m JOIN users u ON u.id = m.user_id
              WHERE m.org_id = ${orgId} AND m.user_id = ${userId} AND m.removed_at IS NULL`
          ),
          (rows) => rows[0]
        ),

      count: (orgId: OrgId) =>
        counted(sql`SELECT count(*) AS count FROM members WHERE org_id = ${orgId} AND removed_at IS NULL`),

      countOwners: (orgId: OrgId) =>
        counted(
          sql`SELECT count(*) AS count FROM members
            WHERE org_id = ${orgId} AND role = 'owner' AND removed_at IS NULL`
        ),

      /** How many live service accounts of an organization a person made. */
      countAccountsOf: (orgId: OrgId, email: Email) =>
        counted(
          sql`SELECT count(*) AS count FROM service_accounts
            WHERE org_id = ${orgId} AND created_by = ${email} AND removed_at IS NULL`
        ),

      insert: (row: {
        readonly id: string
        readonly org_id: OrgId
        readonly user_id: UserId
        readonly role: Role
        readonly created_at: string
      }) => sql`INSERT INTO members ${sql.insert({ ...row, updated_at: row.created_at })}`,

      setRole: (orgId: OrgId, userId: UserId, role: Role, now: string) =>
        sql`UPDATE members SET role = ${role}, updated_at = ${now}
          WHERE org_id = ${orgId} AND user_id = ${userId} AND removed_at IS NULL`,

      remove: (orgId: OrgId, userId: UserId, now: string) =>
        sql`UPDATE members SET removed_at = ${now}
          WHERE org_id = ${orgId} AND user_id = ${userId} AND removed_at IS NULL`,

      removeRules: (orgId: OrgId, userId: UserId, now: string) =>
        rowsOf(IdRow)(
          sql`UPDATE acl_rules SET removed_at = ${now}
            WHERE subject_id = ${userId} AND org_id = ${orgId} AND removed_at IS NULL RETURNING id`
        )
    } as const
  })
}) {}
