import { OrgId, ServiceAccountId } from "@coffer/domain/base/Ids"
import * as Schema from "effect/Schema"
import { makeExpiry } from "../../audit/Expiry.js"
import { sql } from "../../database/Query.js"

const ExpiringRow = Schema.Struct({
  id: Schema.String,
  expires_at: Schema.String,
  account_id: ServiceAccountId,
  account: Schema.String,
  org_id: OrgId
})

/** Announces keys of service accounts a week before they expire, once each. */
export const keyNotice = makeExpiry({
  table: "api_keys",
  notice: 7 * 24 * 60 * 60 * 1000,
  due: sql`expires_at > ${"now"} AND expires_at <= ${"until"} AND announced_at IS NULL AND replaced_at IS NULL
    AND removed_at IS NULL AND EXISTS (
      SELECT 1 FROM service_accounts a JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
      LEFT JOIN projects p ON p.id = a.project_id
      WHERE a.id = api_keys.service_account_id AND a.removed_at IS NULL AND p.removed_at IS NULL)`,
  mark: sql`announced_at = ${"now"}`,
  row: ExpiringRow,
  select: (due) => sql`
    SELECT k.id AS id, k.expires_at AS expires_at, a.id AS account_id, a.name AS account, a.org_id AS org_id
    FROM ${due} k JOIN service_accounts a ON a.id = k.service_account_id`,
  entry: ({ account, account_id, expires_at }) => ({
    action: "service_account.expiring",
    resource_type: "service_account",
    resource_id: account_id,
    metadata: { name: account, expires_at }
  })
})
