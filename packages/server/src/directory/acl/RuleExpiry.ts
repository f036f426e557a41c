import { OrgId } from "@coffer/domain/base/Ids"
import * as Schema from "effect/Schema"
import { makeExpiry } from "../../audit/Expiry.js"
import { timestamp } from "../../base/Time.js"
import { databaseTime, sql } from "../../database/Query.js"
import { keysOfRule, ruleColumns, RuleRow, ruleSubjects } from "./Repo.js"

/** Of a removed organization, `org_id` is null. */
const EndedRow = Schema.Struct({ ...RuleRow.fields, org_id: Schema.NullOr(OrgId) })

/** The rule, with the names of its subject. */
type Facts = Pick<
  RuleRow,
  | "subject_type"
  | "subject_id"
  | "project_pattern"
  | "env_pattern"
  | "permission"
  | "key_pattern"
  | "denies"
  | "expires_at"
> &
  Readonly<Record<"email" | "name" | "group_name", string | null>>

/** Returns the facts about a rule for an entry of the audit log. */
export const ruleFacts = (rule: Facts) => ({
  subject_type: rule.subject_type,
  subject_id: rule.subject_id,
  ...(rule.email !== null && { email: rule.email }),
  ...(rule.subject_type === "service_account" && rule.name !== null && { name: rule.name }),
  ...(rule.group_name !== null && { group: rule.group_name }),
  project_pattern: rule.project_pattern,
  env_pattern: rule.env_pattern,
  permission: rule.permission,
  ...keysOfRule(rule),
  ...(rule.expires_at !== null && { expires_at: timestamp(rule.expires_at) })
})

/** Removes access rules that have ended. They count nowhere before that. */
export const ruleExpiry = makeExpiry({
  table: "acl_rules",
  due: sql`removed_at IS NULL AND expires_at <= ${databaseTime}`,
  mark: sql`removed_at = ${"now"}`,
  row: EndedRow,
  select: (due) => sql`
    SELECT ${ruleColumns}, o.id AS org_id FROM ${due} r LEFT JOIN organizations o ON o.id = r.org_id AND o.removed_at IS NULL
    ${ruleSubjects}`,
  entry: (rule) => ({
    action: "acl.expire",
    resource_type: "acl_rule",
    resource_id: rule.id,
    metadata: ruleFacts(rule)
  })
})
