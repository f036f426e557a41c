import * as Schema from "effect/Schema"
import { grace, graceId } from "./Examples.js"
import { GroupId, UserId } from "./Ids.js"
import { Email, GroupName } from "./Names.js"
import { boundedArray, Count, createdAt, field, Timestamp, updatedAt } from "./Schemas.js"

export const maxGroupMembers = 2_000

export const Group = Schema.Struct({
  id: field(GroupId, "its id"),
  name: field(GroupName, "its name"),
  members: field(Count, "how many members it has", 12),
  rules: field(Count, "how many access rules it has", 2),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({ identifier: "Group", description: "a group of members of an organization" })
export type Group = typeof Group.Type

export const GroupMember = Schema.Struct({
  user_id: field(UserId, "the member's id", graceId),
  email: field(Email, "the member's address", grace),
  name: field(Schema.String, "its name", "grace"),
  added_by: field(Schema.String, "the e-mail of whoever added the member", "ada@example.com"),
  created_at: field(Timestamp, "when the member was added")
}).annotations({ identifier: "GroupMember", description: "a member of a group" })
export type GroupMember = typeof GroupMember.Type

/** All members of a group, by their addresses. */
export const GroupEmails = boundedArray(Email, {
  max: maxGroupMembers,
  text: `must be at most ${maxGroupMembers.toLocaleString("en")} e-mail addresses`,
  items: { type: "string", format: "email" }
})
