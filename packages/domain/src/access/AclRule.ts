import * as Schema from "effect/Schema"
import { grace, graceId } from "../base/Examples.js"
import { GroupId, RequestId, RuleId, ServiceAccountId, UserId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { Email, GroupName } from "../base/Names.js"
import { Via } from "../directory/User.js"
import { usageByLog } from "../base/Usage.js"
import { createdAt, extensibleEnum, field, optional, Timestamp, updatedAt } from "../base/Schemas.js"

/** In ascending order: each permission includes those before it. */
export const permissions = ["use", "read", "write", "admin"] as const

export const Permission = Schema.Literal(...permissions).annotations({
  ...withMessage("must be one of use, read, write, admin"),
  identifier: "Permission",
  description: "a permission; each includes those before it"
})
export type Permission = typeof Permission.Type

export const subjectTypes = ["user", "service_account"] as const

/** The kinds of subjects of rules. */
export const ruleSubjectTypes = [...subjectTypes, "group"] as const
export const RuleSubjectType = Schema.Literal(...ruleSubjectTypes)
export type RuleSubjectType = typeof RuleSubjectType.Type

export const SubjectType = Schema.Literal(...subjectTypes).annotations({
  ...withMessage("must be user or service_account"),
  identifier: "SubjectType",
  description: "the kind of subject"
})
export type SubjectType = typeof SubjectType.Type

const subjectMessage = withMessage(
  "is required when subject_type is user, and must be left out when it is service_account"
)
const accountMessage = withMessage(
  "is required when subject_type is service_account, and must be left out when it is user"
)

interface SubjectFields {
  readonly subject_type: SubjectType
  readonly email?: unknown
  readonly subject_id?: unknown
}

/** Checks that a user is given by `email` and a service account by `subject_id`. */
export const namesItsSubject = ({ email, subject_id, subject_type }: SubjectFields): true | Schema.FilterIssue => {
  const isUser = subject_type === "user"
  if (isUser !== (email !== undefined)) return { path: ["email"], message: subjectMessage.message().message }
  if (isUser === (subject_id !== undefined)) return { path: ["subject_id"], message: accountMessage.message().message }
  return true
}

export const OpenPermission = extensibleEnum(
  "OpenPermission",
  "a permission; each includes those before it",
  permissions
)
const permission = field(OpenPermission, "the permission; a higher one includes the lower ones", "write")

const endsAt = optional(Timestamp, "when the rule ends; absent: it lasts", "2026-12-01T00:00:00.000Z")

/** How far ahead a rule may end. */
export const maxRuleDays = 3_650

const keysOfRule = {
  key_pattern: optional(Schema.String, "the keys that it is for; absent: all", "API_*"),
  denies: optional(Schema.Boolean, "true: it takes the permission from what other rules give")
}

export const AclRule = Schema.Struct({
  id: field(RuleId, "its id"),
  subject_type: field(
    extensibleEnum("OpenSubjectType", "the kind of subject", ruleSubjectTypes),
    "the kind of subject"
  ),
  subject_id: field(
    Schema.Union(UserId, ServiceAccountId, GroupId).annotations({ jsonSchema: { type: "string", format: "uuid" } }),
    "the id of the user, service account or group",
    graceId
  ),
  email: optional(Email, "the subject's address, when it is a user", grace),
  name: optional(Schema.String, "the subject's name, when it is a service account"),
  group: optional(GroupName, "the subject's name, when it is a group"),
  project_pattern: field(Schema.String, "a name or pattern of projects", "webshop"),
  env_pattern: field(Schema.String, "a name or pattern of environments", "{dev,staging}"),
  permission,
  ...keysOfRule,
  expires_at: endsAt,
  request_id: optional(
    RequestId,
    "the request for access that it was approved by; such a rule never becomes a lasting one"
  ),
  usage: usageByLog("its subject did nothing that it gives"),
  created_by: field(Schema.String, "the e-mail or service account name of the granter", "ada@example.com"),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "AclRule",
  description: "a permission that one subject has, or is denied, in the projects and environments whose names match"
})
export type AclRule = typeof AclRule.Type

export const AclReason = Schema.Struct({
  permission,
  by: field(
    extensibleEnum("Ground", "the kind of reason for a permission: superadmin, role or rule", [
      "superadmin",
      "role",
      "rule"
    ]),
    "the kind of reason",
    "rule"
  ),
  role: optional(Schema.String, "a role in the organization"),
  rule_id: optional(RuleId, "the rule, if `by` is rule"),
  group: optional(GroupName, "the group that the rule is about, if it is about a group"),
  ...keysOfRule,
  expires_at: endsAt,
  limited_by: optional(
    Schema.String,
    "why the subject may do less than the rule permits",
    "the role member, which never writes"
  )
}).annotations({
  identifier: "AclReason",
  description: "a role or rule that gives a permission, or a rule that denies it"
})

/** A subject's permissions on an environment, and the roles and rules that give them. */
export const AclExplanation = Schema.Struct({
  allowed: field(
    Schema.Array(OpenPermission),
    "the subject's permissions for all keys, or for the one that was asked about, in ascending order"
  ),
  allowed_for_some: optional(
    Schema.Array(OpenPermission),
    "those that rules give for some keys only, in ascending order; absent: none",
    ["write"]
  ),
  because: field(Schema.Array(AclReason), "the roles and rules that give permissions, and the rules that deny them"),
  via: optional(Via)
}).annotations({
  identifier: "AclExplanation",
  description: "a subject's permissions in an environment, and the reasons for them"
})
export type AclExplanation = typeof AclExplanation.Type
