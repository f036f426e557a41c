import { type OrgId, ServiceAccountId } from "@coffer/domain/base/Ids"
import { ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { liveRule } from "../../access/place/PlaceRow.js"
import { query, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  project: Schema.NullOr(ProjectName),
  reveal: Schema.Number,
  allowed_networks: Schema.NullOr(Schema.String),
  expires_in_days: Schema.NullOr(Schema.Number),
  key_hint: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String)
})
export type AccountRow = typeof AccountRow.Type

const NameRow = Schema.Struct({ name: Schema.String })

const accounts = sql`
  SELECT a.id AS id, a.name AS name, p.name AS project, a.reveal AS reveal,
    a.allowed_networks AS allowed_networks, a.expires_in_days AS expires_in_days, k.hint AS key_hint, k.expires_at AS expires_at, a.created_by AS created_by, a.created_at AS created_at,
    a.last_used_at AS last_used_at
  FROM service_accounts a
  LEFT JOIN api_keys k ON k.service_account_id = a.id AND k.replaced_at IS NULL AND k.removed_at IS NULL
  LEFT JOIN projects p ON p.id = a.project_id
  WHERE a.org_id = ${"orgId"} AND a.removed_at IS NULL`

export const serviceAccountsRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query
  const pages = yield* allPages

  const page = all(AccountRow)`${accounts} AND a.name > ${"after"} ORDER BY a.name LIMIT ${"limit"}`

  return {
    /** The service accounts of an organization, sorted by name. */
    all: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => page({ orgId, after, limit }),
        ({ name }): string => name
      ),

    find: first(AccountRow)`${accounts} AND a.id = ${"id"}`,

    /** An account whose name is the same but for case and surrounding spaces. */
    findAlike: first(NameRow)`
    SELECT name FROM service_accounts
    WHERE org_id = ${"orgId"} AND removed_at IS NULL AND lower(trim(name)) = lower(${"name"}) LIMIT 1`,

    findProject: first(IdRow)`
    SELECT id FROM projects WHERE org_id = ${"orgId"} AND name = ${"name"} AND removed_at IS NULL`,

    count: one(CountRow)`
    SELECT count(*) AS count FROM service_accounts WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

    insert: insert("service_accounts", [
      ...["id", "org_id", "project_id", "name", "reveal", "allowed_networks", "expires_in_days"],
      ...["created_by", "created_at", "updated_at"]
    ]),

    insertKey: write`
    INSERT INTO api_keys (id, service_account_id, token_hash, hint, created_at, expires_at)
    VALUES (${"id"}, ${"service_account_id"}, ${"token_hash"}, ${"hint"}, ${"created_at"}, ${"expires_at"})`,

    setNetworks: write`
    UPDATE service_accounts SET allowed_networks = ${"networks"}, updated_at = ${"now"} WHERE id = ${"id"}`,

    /** Makes valid keys expire at `end`, unless they expire earlier. */
    endKeys: write`
    UPDATE api_keys SET
      replaced_at = coalesce(replaced_at, ${"now"}),
      expires_at = CASE WHEN expires_at IS NULL OR expires_at > ${"end"} THEN ${"end"} ELSE expires_at END
    WHERE service_account_id = ${"id"} AND removed_at IS NULL`,

    /** Removes keys that have expired. */
    removeExpiredKeys: write`
    UPDATE api_keys SET removed_at = ${"now"}
    WHERE service_account_id = ${"id"} AND removed_at IS NULL AND expires_at <= ${"now"}`,

    countKeys: one(CountRow)`
    SELECT count(*) AS count FROM api_keys WHERE service_account_id = ${"id"} AND removed_at IS NULL`,

    /** Removes every key. Unlike an expiry, a clock that is set back cannot undo it. */
    removeKeys: write`
    UPDATE api_keys SET removed_at = ${"now"} WHERE service_account_id = ${"id"} AND removed_at IS NULL`,

    removeFederations: write`
    UPDATE federations SET removed_at = ${"now"} WHERE service_account_id = ${"id"} AND removed_at IS NULL`,

    remove: write`UPDATE service_accounts SET removed_at = ${"now"} WHERE id = ${"id"}`,

    removeRules: returning(IdRow)`
    UPDATE acl_rules AS r SET removed_at = ${"now"}
    WHERE r.subject_id = ${"id"} AND r.org_id = ${"orgId"} AND ${liveRule} RETURNING id`
  } as const
})
