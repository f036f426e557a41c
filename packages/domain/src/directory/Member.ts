import * as Schema from "effect/Schema"
import { grace, graceId } from "../base/Examples.js"
import { UserId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { Email } from "../base/Names.js"
import { createdAt, extensibleEnum, field, optional, Timestamp } from "../base/Schemas.js"

/** In ascending order: each role includes the rights of those before it. */
export const roles = ["member", "developer", "admin", "owner"] as const

export const Role = Schema.Literal(...roles).annotations({
  ...withMessage("must be one of owner, admin, developer, member"),
  identifier: "Role",
  description: "a role in an organization; each includes those before it"
})
export type Role = typeof Role.Type

/** A role in a response. */
export const OpenRole = extensibleEnum("OpenRole", "a role in an organization; each includes those before it", roles)

export const Member = Schema.Struct({
  user_id: field(UserId, "the member's id", graceId),
  email: field(Email, "the member's address", grace),
  name: field(Schema.String, "its name", "grace"),
  role: field(OpenRole, "a role in the organization", "developer"),
  created_at: createdAt,
  accepted: optional(
    Schema.Boolean,
    "whether the person has accepted the membership, by a first call in the organization; only in the list",
    true
  ),
  has_access: optional(
    Schema.Boolean,
    "whether the role or a rule gives access to secrets; only in the list, for admins and owners",
    true
  ),
  last_seen_at: optional(
    Schema.NullOr(Timestamp),
    "time of the last login or request, to about a minute; null: never, or the membership is not accepted; only in the list, for admins and owners",
    "2026-02-01T08:30:00.000Z"
  )
}).annotations({ identifier: "Member", description: "a person in an organization" })
export type Member = typeof Member.Type
