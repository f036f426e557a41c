import * as Schema from "effect/Schema"
import { OrgId } from "../base/Ids.js"
import { OpenRole } from "./Member.js"
import { withMessage } from "../base/Message.js"
import { OrgName } from "../base/Names.js"
import { unusedDays } from "../base/Usage.js"
import { createdAt, extensibleEnum, field, optional, updatedAt } from "../base/Schemas.js"

/** How a member who has lost every passkey comes back: by a login, as one without passkeys; or only by the operator. */
export const passkeyRecoveries = ["login", "none"] as const
export type PasskeyRecovery = (typeof passkeyRecoveries)[number]

/** When owners are mailed the access that nobody used. */
export const unusedAccessMails = ["never", "monthly"] as const
export type UnusedAccessMail = (typeof unusedAccessMails)[number]

/** The same, where it is given. */
export const UnusedAccessMailWord = Schema.Literal(...unusedAccessMails).annotations(
  withMessage("must be one of never, monthly")
)
export const unusedAccessMailMeaning = `when the owners are mailed the rules and accounts that nobody used for ${unusedDays} days`

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
  unused_access_mail: optional(
    extensibleEnum("UnusedAccessMail", unusedAccessMailMeaning, unusedAccessMails),
    unusedAccessMailMeaning,
    "never"
  ),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "Organization",
  description: "a tenant: organizations are isolated from each other"
})
export type Organization = typeof Organization.Type
