import * as Schema from "effect/Schema"
import { AccessReason } from "./AccessTable.js"
import { OpenPermission } from "./AclRule.js"
import { usageByLog } from "../base/Usage.js"
import { grace, graceId } from "../base/Examples.js"
import { DelegationId, GroupId, ServiceAccountId, UserId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { Email, GroupName, SecretKey } from "../base/Names.js"
import { Pagination } from "../base/Pagination.js"
import { isReason, reasonForm } from "../base/ReasonForm.js"
import { Count, extensibleEnum, field, list, optional, Timestamp } from "../base/Schemas.js"

/** In the order of pages. */
export const holderKinds = ["group", "service_account", "user"] as const
export type HolderKind = (typeof holderKinds)[number]

const cursorForm = /^h~(group|service_account|user)~([0-9a-f-]{0,36})$/

/** The end of a page of holders. Opaque: clients send it back as `after`. */
export const HolderCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: [`h~user~${graceId}`]
  })
)

/** The holders of a kind behind an id. */
export interface HolderPosition {
  readonly kind: HolderKind
  readonly id: string
}

export const holderCursorOf = ({ id, kind }: HolderPosition): string => `h~${kind}~${id}`

/** Returns the position that a cursor encodes; the inverse of `holderCursorOf`. The beginning without a cursor. */
export const holderPositionOf = (cursor: string | undefined): HolderPosition => {
  const [, found, id = ""] = cursorForm.exec(cursor ?? "") ?? []
  return { kind: holderKinds.find((kind) => kind === found) ?? "group", id }
}

export const HolderDelegation = Schema.Struct({
  id: field(DelegationId, "its id"),
  name: field(Schema.String, "who or what it is for", "claude"),
  permission: field(OpenPermission, "the highest permission that it has in the environment", "read"),
  keys: optional(Schema.Array(SecretKey), "the only keys that it may name; absent: all keys", [
    SecretKey.make("DATABASE_URL")
  ]),
  limited_by: optional(Schema.String, "why it may do less than the permission says", "reveal: false"),
  expires_at: field(Timestamp, "when it ends, or before it the right of its person", "2026-01-31T20:00:00.000Z"),
  last_used_at: field(Schema.NullOr(Timestamp), "time of its last call; null: never", null)
}).annotations({
  identifier: "HolderDelegation",
  description: "a delegation of the person that has the permission too"
})
export type HolderDelegation = typeof HolderDelegation.Type

export const AccessHolder = Schema.Struct({
  kind: field(extensibleEnum("HolderKind", "a person, a service account or a group", holderKinds), "the kind", "user"),
  id: field(
    Schema.Union(UserId, ServiceAccountId, GroupId).annotations({ jsonSchema: { type: "string", format: "uuid" } }),
    "the id of the user, service account or group",
    graceId
  ),
  email: optional(Email, "the address of a person", grace),
  name: optional(Schema.String, "the name of a service account", "ci"),
  group: optional(GroupName, "the name of a group"),
  invited: optional(Schema.Boolean, "true: the person has not accepted the membership yet"),
  permission: field(OpenPermission, "the highest permission in the environment, for all keys or for some", "write"),
  for_some: optional(Schema.Boolean, "true: it has the highest permission for some keys only", true),
  because: field(AccessReason, "the role or rule that gives the permission asked for, for longest"),
  last_used_at: optional(
    Schema.NullOr(Timestamp),
    "the last use of the permission in the environment, by the audit log; null: none is in the log. Absent for a group: see its members",
    "2026-02-01T08:30:00.000Z"
  ),
  usage: usageByLog("the permission was not used here"),
  delegations: optional(Schema.Array(HolderDelegation), "the person's delegations that have the permission too")
}).annotations({
  identifier: "AccessHolder",
  description: "a person, service account or group that has a permission in an environment"
})
export type AccessHolder = typeof AccessHolder.Type

/** A note on a review. Its form is that of a reason. */
export const ReviewNote = Schema.String.pipe(
  Schema.filter(isReason, {
    ...withMessage(reasonForm.message),
    jsonSchema: { type: "string", minLength: 1, maxLength: reasonForm.maxLength },
    description: "what is said of the review, on one line; the audit log shows it",
    examples: ["quarterly review, nothing to change"]
  })
)

const reviewed = {
  by: field(Schema.String, "the address of the owner or admin who reviewed it", "ada@example.com"),
  at: field(Timestamp, "time of the review", "2026-02-01T08:30:00.000Z")
}

export const LastReview = Schema.Struct(reviewed).annotations({
  identifier: "LastReview",
  description: "the newest review in the audit log"
})
export type LastReview = typeof LastReview.Type

export const AccessReview = Schema.Struct({
  ...reviewed,
  permission: field(OpenPermission, "the permission whose holders were reviewed", "read"),
  people: field(Count, "how many people had it", 12),
  service_accounts: field(Count, "how many service accounts had it", 2),
  groups: field(Count, "how many groups had it", 1),
  delegations: field(Count, "how many delegations had it", 0)
}).annotations({ identifier: "AccessReview", description: "the record that somebody reviewed who has a permission" })
export type AccessReview = typeof AccessReview.Type

export const HolderPage = Schema.Struct({
  ...list(AccessHolder).fields,
  superadmins: field(
    Count,
    "how many superadmins of the server, who may do everything, are no members of the organization",
    1
  ),
  reviewed: optional(LastReview, "the last review of who has access to the environment; absent if none is in the log"),
  pagination: field(Pagination, "position of this page in the list")
}).annotations({
  identifier: "HolderPage",
  description: "a page of those who have a permission in an environment"
})
export type HolderPage = typeof HolderPage.Type
