import { Schema } from "effect"
import { Email, openWord, Timestamp, UserId } from "./Names.js"
import { rule } from "./Rule.js"

/** From the least to the most: each inherits the rights of those before it. */
export const roles = ["member", "developer", "admin", "owner"] as const

export const Role = Schema.Literal(...roles).annotations({
  ...rule("must be one of owner, admin, developer, member"),
  identifier: "Role"
})
export type Role = typeof Role.Type

export const Member = Schema.Struct({
  user_id: UserId,
  email: Email,
  name: Schema.String,
  role: openWord("OpenRole", roles),
  created_at: Timestamp
}).annotations({ identifier: "Member" })
export type Member = typeof Member.Type
