import { Schema } from "effect"
import { Email, list, openWord, RuleId, ServiceAccountId, Timestamp, UserId } from "./Names.js"
import { rule } from "./Rule.js"

/** From the least to the most: a higher level includes the lower ones. */
export const permissions = ["read", "write", "admin"] as const

export const Permission = Schema.Literal(...permissions).annotations({
  ...rule("must be one of read, write, admin"),
  identifier: "Permission"
})
export type Permission = typeof Permission.Type

export const subjectTypes = ["user", "service_account"] as const

export const SubjectType = Schema.Literal(...subjectTypes).annotations({
  ...rule("must be user or service_account"),
  identifier: "SubjectType"
})
export type SubjectType = typeof SubjectType.Type

const rest = {
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: openWord("OpenPermission", permissions),
  created_by: Schema.String.annotations({ description: "the e-mail or service account name of who granted it" }),
  created_at: Timestamp,
  updated_at: Timestamp
}

export const UserRule = Schema.Struct({
  id: RuleId,
  subject_type: Schema.Literal("user"),
  subject_id: UserId,
  email: Email,
  ...rest
}).annotations({ identifier: "UserRule" })

export const ServiceAccountRule = Schema.Struct({
  id: RuleId,
  subject_type: Schema.Literal("service_account"),
  subject_id: ServiceAccountId,
  name: Schema.String,
  ...rest
}).annotations({ identifier: "ServiceAccountRule" })

export const AclRule = Schema.Union(UserRule, ServiceAccountRule)
export type AclRule = typeof AclRule.Type

export const AclReason = Schema.Struct({
  permission: openWord("OpenPermission", permissions),
  by: openWord("Ground", ["superadmin", "role", "rule"]),
  role: Schema.optionalWith(Schema.String, { exact: true }),
  rule_id: Schema.optionalWith(RuleId, { exact: true }),
  limited_by: Schema.optionalWith(Schema.String, { exact: true })
}).annotations({ identifier: "AclReason" })

/** What a subject may do at a place, and which role or rule says so. */
export const AclExplanation = Schema.Struct({
  allowed: Schema.Array(openWord("OpenPermission", permissions)),
  because: Schema.Array(AclReason)
}).annotations({ identifier: "AclExplanation" })
export type AclExplanation = typeof AclExplanation.Type

export const AclRules = list(AclRule)
