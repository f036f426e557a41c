import { type OrgId, ProjectName, ServiceAccountId, ServiceAccountName } from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  project: Schema.NullOr(ProjectName),
  reveal: Schema.Number,
  expires_in_days: Schema.NullOr(Schema.Number),
  key_hint: Schema.String,
  expires_at: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String)
})
export type AccountRow = typeof AccountRow.Type

const IdRow = Schema.Struct({ id: Schema.String })
const NameRow = Schema.Struct({ name: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

const accounts = `SELECT a.id AS id, a.name AS name, p.name AS project, a.reveal AS reveal,
    a.expires_in_days AS expires_in_days, k.hint AS key_hint, k.expires_at AS expires_at, a.created_by AS created_by,
    a.created_at AS created_at, a.last_used_at AS last_used_at
  FROM service_accounts a
  JOIN api_keys k ON k.service_account_id = a.id AND k.replaced_at IS NULL AND k.removed_at IS NULL
  LEFT JOIN projects p ON p.id = a.project_id
  WHERE a.org_id = ? AND a.removed_at IS NULL`

export interface NewKey {
  readonly id: string
  readonly service_account_id: ServiceAccountId
  readonly token_hash: string
  readonly hint: string
  readonly created_at: string
  readonly expires_at: string | null
}

export class ServiceAccountsRepo extends Effect.Service<ServiceAccountsRepo>()("@coffer/server/ServiceAccountsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const rows = reader.manyRows(AccountRow)

    const removeKeys = (id: ServiceAccountId, now: string) =>
      sql`UPDATE api_keys SET removed_at = ${now} WHERE service_account_id = ${id} AND removed_at IS NULL`

    return {
      all: (orgId: OrgId) => rows(`${accounts} ORDER BY a.name`, [orgId]),

      find: (orgId: OrgId, id: ServiceAccountId) =>
        Effect.map(rowsOf(AccountRow)(sql.unsafe(`${accounts} AND a.id = ?`, [orgId, id])), (found) => found[0]),

      /** The live account whose name differs from a name by its case alone, or by spaces around it. */
      findAlike: (orgId: OrgId, name: ServiceAccountName) =>
        Effect.map(
          rowsOf(NameRow)(
            sql`SELECT name FROM service_accounts
              WHERE org_id = ${orgId} AND removed_at IS NULL AND trim(name) = ${name} COLLATE NOCASE LIMIT 1`
          ),
          (found) => found[0]?.name
        ),

      findProject: (orgId: OrgId, name: ProjectName) =>
        Effect.map(
          rowsOf(IdRow)(sql`SELECT id FROM projects WHERE org_id = ${orgId} AND name = ${name} AND removed_at IS NULL`),
          (found) => found[0]?.id
        ),

      count: (orgId: OrgId) =>
        Effect.map(
          rowsOf(CountRow)(
            sql`SELECT count(*) AS count FROM service_accounts WHERE org_id = ${orgId} AND removed_at IS NULL`
          ),
          (found) => found[0]?.count ?? 0
        ),

      insert: (row: {
        readonly id: ServiceAccountId
        readonly org_id: OrgId
        readonly project_id: string | null
        readonly name: ServiceAccountName
        readonly reveal: number
        readonly expires_in_days: number | null
        readonly created_by: string
        readonly created_at: string
      }) => sql`INSERT INTO service_accounts ${sql.insert({ ...row, updated_at: row.created_at })}`,

      insertKey: (key: NewKey) => sql`INSERT INTO api_keys ${sql.insert({ ...key })}`,

      /** Lets the keys that are good now end at a moment, or earlier where they do anyway. */
      endKeys: (id: ServiceAccountId, now: string, end: string) =>
        sql`UPDATE api_keys SET
            replaced_at = coalesce(replaced_at, ${now}),
            expires_at = CASE WHEN expires_at IS NULL OR expires_at > ${end} THEN ${end} ELSE expires_at END
          WHERE service_account_id = ${id} AND removed_at IS NULL`,

      /** Ends every key for good, whatever the clock says later. */
      removeKeys,

      remove: (id: ServiceAccountId, now: string) =>
        Effect.zipRight(removeKeys(id, now), sql`UPDATE service_accounts SET removed_at = ${now} WHERE id = ${id}`),

      removeRules: (orgId: OrgId, id: ServiceAccountId, now: string) =>
        rowsOf(IdRow)(
          sql`UPDATE acl_rules SET removed_at = ${now}
            WHERE subject_id = ${id} AND org_id = ${orgId} AND removed_at IS NULL RETURNING id`
        )
    } as const
  })
}) {}
