import * as Schema from "effect/Schema"
import { Count, createdAt, field, optional, Timestamp } from "../base/Schemas.js"

/** How long the former token of a directory stays valid after a rotation. */
export const scimGraceHours = 24

export const ScimToken = Schema.Struct({
  hint: field(Schema.String, "its last four characters", "x7Qd"),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last use, to about a minute; null: never", null),
  expires_at: optional(
    Timestamp,
    "until when a former token is still valid; absent: it is the current one",
    "2026-12-01T00:00:00.000Z"
  )
}).annotations({ identifier: "ScimToken", description: "a token of the directory, without its text" })
export type ScimToken = typeof ScimToken.Type

const fields = {
  enabled: field(Schema.Boolean, "whether a directory manages people and groups here", true),
  path: field(Schema.String, "the path below the server's address that the directory calls", "/scim/v2/acme"),
  domains: field(
    Schema.Array(Schema.String),
    "the domains of the people whom it may manage, as the server's operator allows; `*`: any",
    ["example.com"]
  ),
  tokens: field(Schema.Array(ScimToken), "the tokens that are valid, the current one first"),
  users: field(Count, "how many people the directory has listed", 40),
  groups: field(Count, "how many groups it manages", 6)
}

export const Scim = Schema.Struct(fields).annotations({
  identifier: "Scim",
  description: "the management of an organization's people by a directory (SCIM 2.0)"
})
export type Scim = typeof Scim.Type

/** Not a valid token, so that secret scanners do not report the documentation. */
const Token = Schema.Redacted(Schema.String.annotations({ examples: ["svc_sc_…x7Qd"] }))

export const ScimWithToken = Schema.Struct({
  ...fields,
  token: field(Token, "the token for the directory; returned only in this response")
}).annotations({ identifier: "ScimWithToken", description: "the same, with a new token, which is returned only once" })
export type ScimWithToken = typeof ScimWithToken.Type
