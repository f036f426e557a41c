import * as Schema from "effect/Schema"
import { AclReason, OpenPermission } from "./AclRule.js"
import { usageByLog } from "../base/Usage.js"
import { position } from "../directory/Environment.js"
import { ServiceAccountId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { Email, EnvName, ProjectName } from "../base/Names.js"
import { Pagination } from "../base/Pagination.js"
import { field, list, optional } from "../base/Schemas.js"

/** A person by e-mail address, or a service account by id, in a query string. */
export const AccessSubject = Schema.Union(ServiceAccountId, Email).annotations({
  ...withMessage("must be an e-mail address, or the id of a service account"),
  description: "an e-mail address, or the id of a service account; default: the caller",
  jsonSchema: { type: "string" },
  examples: [Email.to.make("grace@example.com")]
})
export type AccessSubject = typeof AccessSubject.Type

const cursorForm = /^a~([a-z0-9-]{0,51})~([a-z0-9-]{0,51})$/

/** The end of a page of environments. Opaque: clients send it back as `after`. */
export const AccessCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["a~webshop~prod-"]
  })
)

/** The environments at or after these names. */
export interface AccessPosition {
  readonly project: string
  readonly env: string
}

export const accessCursorOf = ({ env, project }: AccessPosition): string => `a~${project}~${env}`

/** Returns the position that a cursor encodes; the inverse of `accessCursorOf`. The beginning without a cursor. */
export const accessPositionOf = (cursor: string | undefined): AccessPosition => {
  const [, project = "", env = ""] = cursorForm.exec(cursor ?? "") ?? []
  return { project, env }
}

export const AccessReason = Schema.Struct({
  ...AclReason.fields,
  project_pattern: optional(Schema.String, "the rule's name or pattern of projects, if `by` is rule", "webshop"),
  env_pattern: optional(Schema.String, "the rule's name or pattern of environments, if `by` is rule", "{dev,staging}")
}).annotations({ identifier: "AccessReason", description: "the role or rule that gives the highest permission" })
export type AccessReason = typeof AccessReason.Type

export const EnvironmentAccess = Schema.Struct({
  project: field(ProjectName, "the project's name"),
  env: field(EnvName, "the environment's name"),
  position,
  permission: field(
    Schema.NullOr(OpenPermission),
    "the subject's highest permission for all keys of the environment; null: none",
    "read"
  ),
  permission_for_some: optional(
    OpenPermission,
    "a higher permission, which rules give for some keys only; absent: none",
    "write"
  ),
  because: optional(AccessReason, "the role or rule that gives it, or that a limit keeps from giving it"),
  usage: usageByLog("if a rule gives it and `subject` was sent, the subject did nothing here")
}).annotations({ identifier: "EnvironmentAccess", description: "a subject's permission in one environment" })
export type EnvironmentAccess = typeof EnvironmentAccess.Type

export const AccessPage = Schema.Struct({
  ...list(EnvironmentAccess).fields,
  pagination: field(Pagination, "position of this page in the list")
}).annotations({
  identifier: "AccessPage",
  description: "a page of a subject's permissions, by project and environment"
})
export type AccessPage = typeof AccessPage.Type
