import { Schema } from "effect"
import { UserId } from "./Ids.js"
import { withMessage } from "./Message.js"
import { Email } from "./Names.js"
import { extensibleEnum, Timestamp } from "./Schemas.js"

/** In ascending order: each role includes the rights of those before it. */
export const roles = ["member", "developer", "admin", "owner"] as const

export const Role = Schema.Literal(...roles).annotations({
  ...withMessage("must be one of owner, admin, developer, member"),
  identifier: "Role"
})
export type Role = typeof Role.Type

export const Member = Schema.Struct({
  user_id: UserId,
  email: Email,
  name: Schema.String,
  role: extensibleEnum("OpenRole", roles),
  created_at: Timestamp
}).annotations({ identifier: "Member" })
export type Member = typeof Member.Type
