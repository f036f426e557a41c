import { Schema } from "effect"
import { RuleId, ServiceAccountId, UserId } from "./Ids.js"
import { withMessage } from "./Message.js"
import { Email } from "./Names.js"
import { extensibleEnum, optional, Timestamp } from "./Schemas.js"

/** In ascending order: each permission includes those before it. */
export const permissions = ["read", "write", "admin"] as const

export const Permission = Schema.Literal(...permissions).annotations({
  ...withMessage("must be one of read, write, admin"),
  identifier: "Permission"
})
export type Permission = typeof Permission.Type

export const subjectTypes = ["user", "service_account"] as const

export const SubjectType = Schema.Literal(...subjectTypes).annotations({
  ...withMessage("must be user or service_account"),
  identifier: "SubjectType"
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

export const AclRule = Schema.Struct({
  id: RuleId,
  subject_type: extensibleEnum("OpenSubjectType", subjectTypes),
  subject_id: Schema.Union(UserId, ServiceAccountId).annotations({ jsonSchema: { type: "string", format: "uuid" } }),
  email: optional(Email).annotations({ description: "the subject's address, when it is a user" }),
  name: optional(Schema.String).annotations({ description: "the subject's name, when it is a service account" }),
  project_pattern: Schema.String,
  env_pattern: Schema.String,
  permission: extensibleEnum("OpenPermission", permissions),
  created_by: Schema.String.annotations({ description: "the e-mail or service account name of the granter" }),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "AclRule" })
export type AclRule = typeof AclRule.Type

export const AclReason = Schema.Struct({
  permission: extensibleEnum("OpenPermission", permissions),
  by: extensibleEnum("Ground", ["superadmin", "role", "rule"]),
  role: optional(Schema.String),
  rule_id: optional(RuleId),
  limited_by: optional(Schema.String)
}).annotations({ identifier: "AclReason" })

/** A subject's permissions on an environment, and the roles and rules that give them. */
export const AclExplanation = Schema.Struct({
  allowed: Schema.Array(extensibleEnum("OpenPermission", permissions)),
  because: Schema.Array(AclReason)
}).annotations({ identifier: "AclExplanation" })
export type AclExplanation = typeof AclExplanation.Type
