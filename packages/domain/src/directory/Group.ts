import * as Schema from "effect/Schema"
import { grace, graceId } from "../base/Examples.js"
import { GroupId, UserId } from "../base/Ids.js"
import { Email, GroupName } from "../base/Names.js"
import { withMessage } from "../base/Message.js"
import {
  body,
  boundedArray,
  Count,
  createdAt,
  extensibleEnum,
  field,
  list,
  optional,
  Timestamp,
  updatedAt,
  withJsonSchema
} from "../base/Schemas.js"

export const maxGroupMembers = 2_000

export const groupSources = ["manual", "scim"] as const

export const Group = Schema.Struct({
  id: field(GroupId, "its id"),
  name: field(GroupName, "its name"),
  source: optional(
    extensibleEnum("GroupSource", "who changes its members; later versions may add more", groupSources),
    "who changes its members: `manual`, people; `scim`, the organization's directory alone",
    "manual"
  ),
  members: field(Count, "how many members it has, by whatever way", 12),
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
  added_by: optional(
    Schema.String,
    "the e-mail of whoever added the member; absent: only a login at the provider brought it",
    "ada@example.com"
  ),
  created_at: optional(Timestamp, "when the member was added; absent: only a login at the provider brought it"),
  provider_group: optional(
    Schema.String,
    "a group of the provider that brought the member with its last login; absent: none did",
    "platform-team"
  ),
  login_ends_at: optional(
    Timestamp,
    "until when that login counts; a member that was added stays",
    "2026-12-01T00:00:00.000Z"
  )
}).annotations({ identifier: "GroupMember", description: "a member of a group" })
export type GroupMember = typeof GroupMember.Type

/** All members of a group, by their addresses. */
export const GroupEmails = boundedArray(Email, {
  max: maxGroupMembers,
  text: `must be at most ${maxGroupMembers.toLocaleString("en")} e-mail addresses`,
  items: { type: "string", format: "email" }
})

export const maxGroupMappings = 200
export const maxProviderGroupLength = 256

const providerGroupMessage = `the provider's name of a group has 1 to ${maxProviderGroupLength} characters, and no control characters`

const providerGroupText = "a group as the provider names it in its tokens"
const groupText = "the group of the organization that it counts as"
const providerGroupJson = { type: "string", minLength: 1, maxLength: maxProviderGroupLength }

/** A group as the provider names it, or its id there: compared with the token's as text. */
export const ProviderGroup = Schema.String.pipe(
  Schema.filter((text) => text.length <= maxProviderGroupLength && /^\P{Cc}+$/u.test(text), {
    ...withMessage(providerGroupMessage),
    identifier: "ProviderGroup",
    ...withJsonSchema(providerGroupText, providerGroupJson),
    examples: ["platform-team"]
  })
)

const mappingFields = {
  provider_group: field(ProviderGroup, providerGroupText),
  group: field(GroupName, groupText)
}

export const GroupMapping = Schema.Struct(mappingFields).annotations({
  identifier: "GroupMapping",
  description: "a group of the provider, and a group of the organization that it stands for"
})
export type GroupMapping = typeof GroupMapping.Type

/** All mappings of an organization. */
export const NewGroupMappings = boundedArray(body(mappingFields), {
  max: maxGroupMappings,
  text: `must be at most ${maxGroupMappings} mappings`,
  items: {
    type: "object",
    required: ["provider_group", "group"],
    properties: {
      provider_group: { ...providerGroupJson, description: providerGroupText },
      group: { type: "string", description: groupText }
    },
    additionalProperties: false
  }
})

export const GroupMappings = Schema.Struct({
  ...list(GroupMapping).fields,
  claim: field(
    Schema.NullOr(Schema.String),
    "the claim of the provider's tokens that the server takes groups from; null: it takes none, and mappings give nothing",
    "groups"
  )
}).annotations({ identifier: "GroupMappings", description: "which groups of the provider stand for which groups" })
export type GroupMappings = typeof GroupMappings.Type
