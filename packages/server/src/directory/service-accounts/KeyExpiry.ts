import { OrgId, ServiceAccountId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AuditLog } from "../../audit/AuditLog.js"
import { ago, now } from "../../base/Time.js"
import { query } from "../../database/Query.js"
import { batchSize, eachRow } from "../../database/jobs/EachRow.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { IdRow } from "../../database/Rows.js"

/** How long before its end a key is announced. */
const noticeMillis = 7 * 24 * 60 * 60 * 1000

const ExpiringRow = Schema.Struct({
  id: Schema.String,
  expires_at: Schema.String,
  account_id: ServiceAccountId,
  account: Schema.String,
  org_id: OrgId
})

/** Announces keys of service accounts that expire soon, once each, by entries of the audit log. */
export class KeyExpiry extends Effect.Service<KeyExpiry>()("@coffer/server/KeyExpiry", {
  effect: Effect.gen(function* () {
    const audit = yield* AuditLog
    const { all, returning } = yield* query

    const expiring = all(ExpiringRow)`
      SELECT k.id AS id, k.expires_at AS expires_at, a.id AS account_id, a.name AS account, a.org_id AS org_id
      FROM api_keys k JOIN service_accounts a ON a.id = k.service_account_id AND a.removed_at IS NULL
      JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
      LEFT JOIN projects p ON p.id = a.project_id
      WHERE p.removed_at IS NULL AND k.announced_at IS NULL AND k.replaced_at IS NULL AND k.removed_at IS NULL
        AND k.expires_at > ${"now"} AND k.expires_at <= ${"soon"}
      ORDER BY k.expires_at LIMIT ${"limit"}`

    const mark = returning(IdRow)`
      UPDATE api_keys SET announced_at = ${"now"} WHERE id = ${"id"} AND announced_at IS NULL RETURNING id`

    const announceOne = ({ account, account_id, expires_at, id, org_id }: typeof ExpiringRow.Type) =>
      Effect.gen(function* () {
        if ((yield* mark({ id, now: yield* now })).length === 0) return
        yield* audit.change(
          { actor: { type: "system", id: null, name: "expiry" }, orgId: org_id },
          {
            action: "service_account.expiring",
            resource_type: "service_account",
            resource_id: account_id,
            metadata: { name: account, expires_at }
          }
        )
      })

    const found = Effect.gen(function* () {
      return yield* expiring({ now: yield* now, soon: yield* ago(-noticeMillis), limit: batchSize })
    })

    return { announce: (fenced: Fenced) => eachRow(found, announceOne, fenced) } as const
  })
}) {}
