import * as Schema from "effect/Schema"
import { OrgId } from "../base/Ids.js"
import { OpenRole } from "./Member.js"
import { OrgName } from "../base/Names.js"
import { createdAt, extensibleEnum, field, optional, updatedAt } from "../base/Schemas.js"

/** How a member who has lost every passkey comes back: by a login, as one without passkeys; or only by the operator. */
export const passkeyRecoveries = ["login", "none"] as const
export type PasskeyRecovery = (typeof passkeyRecoveries)[number]

export const Organization = Schema.Struct({
  id: field(OrgId, "its id"),
  name: field(OrgName, "its name"),
  role: field(Schema.NullOr(OpenRole), "the caller's own role, if it has one", "owner"),
  accepted: optional(
    Schema.Boolean,
    "false: the caller was invited and has made no call in it yet, so it binds the caller to nothing; left out otherwise",
    false
  ),
  passkey_recovery: optional(
    extensibleEnum("PasskeyRecovery", "what removes a lost passkey of a member", passkeyRecoveries),
    "what removes a lost passkey of a member: a login, or nothing",
    "login"
  ),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "Organization",
  description: "a tenant: organizations are isolated from each other"
})
export type Organization = typeof Organization.Type
