import {
  Email,
  OrgName,
  ProjectName,
  ServiceAccountId,
  ServiceAccountName,
  type UserId,
  UserId as Id
} from "@coffer/domain/Names"
import { maxCounted } from "@coffer/domain/UserRecord"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const UserRow = Schema.Struct({
  id: Id,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  superadmin: Schema.Number,
  disabled_at: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  last_seen_at: Schema.NullOr(Schema.String),
  organizations: Schema.Number,
  sessions: Schema.Number
})
export type UserRow = typeof UserRow.Type

const CreatedRow = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  org: OrgName,
  project: Schema.NullOr(ProjectName),
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String)
})

const EmailRow = Schema.Struct({ email: Schema.typeSchema(Email) })
const IdRow = Schema.Struct({ id: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

const users = `SELECT u.id AS id, u.email AS email, u.name AS name, u.superadmin AS superadmin,
    u.disabled_at AS disabled_at, u.created_at AS created_at, u.last_seen_at AS last_seen_at,
    (SELECT count(*) FROM (SELECT 1 FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
      WHERE m.user_id = u.id AND m.removed_at IS NULL LIMIT ${maxCounted})) AS organizations,
    (SELECT count(*) FROM (SELECT 1 FROM sessions s
      WHERE s.user_id = u.id AND s.created_at > ? LIMIT ${maxCounted})) AS sessions
  FROM users u`

const maxAccounts = 1_000

/** Which users a page is about. */
export interface Filters {
  /** The beginning of an address, in lowercase. */
  readonly prefix?: string
  readonly disabled?: boolean
  /** Only users whose addresses come behind this one. */
  readonly behind?: string
}

export class UsersRepo extends Effect.Service<UsersRepo>()("@coffer/server/UsersRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const rows = reader.rows(UserRow)
    const emails = reader.rows(EmailRow)

    return {
      /** Users by address, with their sessions that were born after a moment. */
      page: ({ behind, disabled, prefix }: Filters, bornAfter: string, limit: number) => {
        const conditions = [
          ...(behind === undefined ? [] : ["u.email > ?"]),
          // Addresses are ASCII: no character of one comes behind this.
          ...(prefix === undefined ? [] : ["u.email >= ? AND u.email < ?"]),
          ...(disabled === undefined ? [] : [`u.disabled_at IS ${disabled ? "NOT " : ""}NULL`])
        ]
        const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
        return rows(`${users} ${where} ORDER BY u.email LIMIT ?`, [
          bornAfter,
          ...(behind === undefined ? [] : [behind]),
          ...(prefix === undefined ? [] : [prefix, `${prefix}\x7f`]),
          limit
        ])
      },

      emailOf: (id: UserId) =>
        Effect.map(emails("SELECT email FROM users WHERE id = ?", [id]), (found) => found[0]?.email),

      find: (id: UserId, bornAfter: string) =>
        Effect.map(rowsOf(UserRow)(sql.unsafe(`${users} WHERE u.id = ?`, [bornAfter, id])), (found) => found[0]),

      /** Whether the user was not disabled before. */
      disable: (id: UserId, now: string) =>
        Effect.map(
          rowsOf(IdRow)(
            sql`UPDATE users SET disabled_at = ${now}, updated_at = ${now}
              WHERE id = ${id} AND disabled_at IS NULL RETURNING id`
          ),
          (changed) => changed.length > 0
        ),

      /** Whether the user was disabled before. */
      enable: (id: UserId, now: string) =>
        Effect.map(
          rowsOf(IdRow)(
            sql`UPDATE users SET disabled_at = NULL, updated_at = ${now}
              WHERE id = ${id} AND disabled_at IS NOT NULL RETURNING id`
          ),
          (changed) => changed.length > 0
        ),

      countEnabledSuperadmins: Effect.map(
        rowsOf(CountRow)(sql`SELECT count(*) AS count FROM users WHERE superadmin = 1 AND disabled_at IS NULL`),
        (found) => found[0]?.count ?? 0
      ),

      /** The live service accounts that a person made, in every organization. */
      accountsOf: (email: Email) =>
        rowsOf(CreatedRow)(
          sql`SELECT a.id AS id, a.name AS name, o.name AS org, p.name AS project, a.created_at AS created_at,
              a.last_used_at AS last_used_at
            FROM service_accounts a
            JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
            LEFT JOIN projects p ON p.id = a.project_id
            WHERE a.created_by = ${email} AND a.removed_at IS NULL ORDER BY o.name, a.name LIMIT ${maxAccounts}`
        )
    } as const
  })
}) {}
