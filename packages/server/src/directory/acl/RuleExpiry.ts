import { GroupId, OrgId, RuleId, ServiceAccountId, UserId } from "@coffer/domain/base/Ids"
import { Permission, RuleSubjectType } from "@coffer/domain/access/AclRule"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AuditLog } from "../../audit/AuditLog.js"
import { now, timestamp } from "../../base/Time.js"
import { batchSize, eachRow } from "../../database/jobs/EachRow.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { databaseTime, query } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"

const EndedRow = Schema.Struct({
  id: RuleId,
  /** Null if the organization was removed. */
  org_id: Schema.NullOr(OrgId),
  subject_type: RuleSubjectType,
  subject_id: Schema.Union(UserId, ServiceAccountId, GroupId),
  email: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  group_name: Schema.NullOr(Schema.String),
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: Permission,
  expires_at: Schema.NullOr(Schema.Number)
})
type EndedRow = typeof EndedRow.Type

/** Returns the facts about a rule for an entry of the audit log. */
export const ruleFacts = (rule: Omit<EndedRow, "id" | "org_id">) => ({
  subject_type: rule.subject_type,
  subject_id: rule.subject_id,
  ...(rule.email !== null && { email: rule.email }),
  ...(rule.subject_type === "service_account" && rule.name !== null && { name: rule.name }),
  ...(rule.group_name !== null && { group: rule.group_name }),
  project_pattern: rule.project_pattern,
  env_pattern: rule.env_pattern,
  permission: rule.permission,
  ...(rule.expires_at !== null && { expires_at: timestamp(rule.expires_at) })
})

/** Removes access rules that have ended, with an entry of the audit log for each. They count nowhere before that. */
export const makeRuleExpiry = Effect.gen(function* () {
  const audit = yield* AuditLog
  const { all, returning } = yield* query

  const ended = all(EndedRow)`
    SELECT r.id AS id, o.id AS org_id, r.subject_type AS subject_type, r.subject_id AS subject_id, u.email AS email,
      a.name AS name, g.name AS group_name, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission,
      r.expires_at AS expires_at
    FROM (
      SELECT * FROM acl_rules
      WHERE removed_at IS NULL AND expires_at IS NOT NULL AND expires_at <= ${databaseTime}
      ORDER BY expires_at, id LIMIT ${"limit"}) r
    LEFT JOIN organizations o ON o.id = r.org_id AND o.removed_at IS NULL
    LEFT JOIN users u ON r.subject_type = 'user' AND u.id = r.subject_id
    LEFT JOIN service_accounts a ON r.subject_type = 'service_account' AND a.id = r.subject_id
    LEFT JOIN groups g ON r.subject_type = 'group' AND g.id = r.subject_id`

  // A change may have set another end, or another server may have removed it.
  const remove = returning(idRow(RuleId))`
    UPDATE acl_rules SET removed_at = ${"now"}
    WHERE id = ${"id"} AND removed_at IS NULL AND expires_at <= ${databaseTime} RETURNING id`

  const expire = Effect.fnUntraced(function* ({ id, org_id, ...rule }: EndedRow) {
    const removed = yield* remove({ id, now: yield* now })
    if (removed.length === 0 || org_id === null) return
    yield* audit.change(
      { actor: { type: "system", id: null, name: "expiry" }, orgId: org_id },
      { action: "acl.expire", resource_type: "acl_rule", resource_id: id, metadata: ruleFacts(rule) }
    )
  })

  return { expire, expireAll: (fenced: Fenced) => eachRow(ended({ limit: batchSize }), expire, fenced) } as const
})
