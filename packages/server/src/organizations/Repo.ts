import { Role } from "@coffer/domain/Member"
import { OrgId, OrgName, type UserId } from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const OrganizationRow = Schema.Struct({
  id: OrgId,
  name: OrgName,
  role: Schema.NullOr(Role),
  created_at: Schema.String,
  updated_at: Schema.String
})

const StampRow = Schema.Struct({ created_at: Schema.String })

const columns = "o.id AS id, o.name AS name, m.role AS role, o.created_at AS created_at, o.updated_at AS updated_at"

export class OrganizationsRepo extends Effect.Service<OrganizationsRepo>()("@coffer/server/OrganizationsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const organizations = reader.rows(OrganizationRow)
    const manyOrganizations = reader.manyRows(OrganizationRow)

    return {
      all: (actorId: UserId) =>
        manyOrganizations(
          `SELECT ${columns} FROM organizations o
            LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ? AND m.removed_at IS NULL
            WHERE o.removed_at IS NULL ORDER BY o.name`,
          [actorId]
        ),

      ofMember: (userId: UserId) =>
        manyOrganizations(
          `SELECT ${columns} FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
            WHERE m.user_id = ? AND m.removed_at IS NULL ORDER BY o.name`,
          [userId]
        ),

      find: (id: OrgId, actorId: string) =>
        Effect.map(
          organizations(
            `SELECT ${columns} FROM organizations o
              LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ? AND m.removed_at IS NULL
              WHERE o.id = ? AND o.removed_at IS NULL`,
            [actorId, id]
          ),
          (rows) => rows[0]
        ),

      /**
       * Takes the organization's own row at the head of a transaction, so that a rule over what is in it (its limits, its
       * last owner) holds on an engine with many writers too. False when it is removed.
       */
      claim: (id: OrgId) =>
        Effect.map(
          rowsOf(StampRow)(
            sql`UPDATE organizations SET revision = revision + 1 WHERE id = ${id} AND removed_at IS NULL
              RETURNING created_at`
          ),
          (rows) => rows.length === 1
        ),

      insert: (row: { readonly id: OrgId; readonly name: OrgName; readonly created_at: string }) =>
        sql`INSERT INTO organizations ${sql.insert({ ...row, updated_at: row.created_at })}`,

      rename: (id: OrgId, name: OrgName, now: string) =>
        rowsOf(StampRow)(
          sql`UPDATE organizations SET name = ${name}, updated_at = ${now}, revision = revision + 1
            WHERE id = ${id} AND removed_at IS NULL RETURNING created_at`
        ),

      remove: (id: OrgId, now: string) =>
        rowsOf(StampRow)(
          sql`UPDATE organizations SET removed_at = ${now}, revision = revision + 1
            WHERE id = ${id} AND removed_at IS NULL RETURNING created_at`
        ),

      insertMember: (row: {
        readonly id: string
        readonly org_id: OrgId
        readonly user_id: UserId
        readonly role: Role
        readonly created_at: string
      }) => sql`INSERT INTO members ${sql.insert({ ...row, updated_at: row.created_at })}`
    } as const
  })
}) {}
