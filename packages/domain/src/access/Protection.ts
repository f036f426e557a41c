import * as Schema from "effect/Schema"
import { grace } from "../base/Examples.js"
import { withMessage } from "../base/Message.js"
import { Email } from "../base/Names.js"
import { etag } from "../base/RecordETag.js"
import { spanInMinutes, spanMillis, spanPattern } from "../base/Span.js"
import { boundedArray, Count, field, optional, updatedAt } from "../base/Schemas.js"

/** How many votes a protection may need. */
export const maxNeeded = 3

/** How many people a protection may name. */
export const maxNamed = 100

const neededMessage = withMessage(`must be a whole number from 1 to ${maxNeeded}`)

const Needed = Schema.Int.annotations(neededMessage).pipe(Schema.between(1, maxNeeded, neededMessage))

const emailJson = { type: "string", format: "email" }

const people = (empty?: string) =>
  boundedArray(Email, {
    items: emailJson,
    max: maxNamed,
    text: `must be at most ${maxNamed} e-mail addresses`,
    ...(empty !== undefined && { empty })
  })

export const approverRoles = ["owners", "admins"] as const

const approversMessage = "must be owners, admins (owners too), or a list of e-mail addresses"

/** The voters: owners, admins with owners, or the members with these addresses. */
export const Approvers = Schema.Union(
  Schema.Literal(...approverRoles),
  people("must name a person, or be owners or admins")
).annotations({
  ...withMessage(approversMessage),
  jsonSchema: {
    anyOf: [
      { type: "string", enum: [...approverRoles] },
      { type: "array", items: emailJson, minItems: 1, maxItems: maxNamed }
    ]
  }
})
export type Approvers = typeof Approvers.Type

const spanMessage = "must be a time such as 90m, 72h or 7d, from 1 minute to 30 days"

const spanTexts = {
  ...withMessage(spanMessage),
  jsonSchema: { type: "string", pattern: spanPattern },
  description: "a time such as 90m, 72h or 7d, from 1 minute to 30 days",
  examples: ["72h"] as const
}

/** How long a request waits for its votes. */
export const RequestSpan = Schema.String.pipe(
  Schema.filter((text) => spanMillis(text) >= spanMillis("1m") && spanMillis(text) <= spanMillis("30d"), spanTexts)
)

/** The same where it is stored: in whole minutes, hours or days, rounded up. */
export const StoredSpan = Schema.transform(RequestSpan, RequestSpan, {
  strict: true,
  decode: spanInMinutes,
  encode: (span) => span
}).annotations(spanTexts)

const texts = {
  needed: "how many people have to approve a request",
  approvers:
    "who may vote: `owners`, `admins` (and owners), or the members with these e-mail addresses; they need no right in the environment",
  self: "whether the requester's own vote counts",
  breakGlass: "who may change the environment at once, with a reason that all owners are mailed",
  expiresAfter: "how long a request waits for votes: 1 minute to 30 days",
  passkey: "whether each vote needs a passkey"
}

/** The terms of a protection. */
export const protectionTerms = {
  needed: field(Needed, texts.needed, 2),
  approvers: field(Approvers, texts.approvers, "admins" as const),
  self: optional(Schema.Boolean, `${texts.self}; default: false`, false),
  break_glass: optional(people(), `${texts.breakGlass}; default: nobody`, [grace]),
  expires_after: optional(StoredSpan, `${texts.expiresAfter}; default: 72h`, "72h"),
  passkey: optional(Schema.Boolean, `${texts.passkey}; default: false`, false)
}

export const Protection = Schema.Struct({
  needed: field(Needed, texts.needed, 2),
  approvers: field(Approvers, texts.approvers, "admins" as const),
  self: field(Schema.Boolean, texts.self, false),
  break_glass: field(Schema.Array(Email), texts.breakGlass, [grace]),
  expires_after: field(Schema.String, texts.expiresAfter, "72h"),
  passkey: field(Schema.Boolean, texts.passkey, false),
  without_voters: optional(
    Schema.Array(Email),
    "for owners: members who write there, and whose own changes could not get the votes as things are",
    [grace]
  ),
  stuck: optional(
    Schema.Boolean,
    "true if nobody could give the votes to end it, such as after a voter was disabled: a superadmin may end it at once, with a reason",
    true
  ),
  version: field(Count, "how often the protection was set: a request is outdated when it changes", 1),
  updated_by: field(Schema.String, "who set it: an e-mail", "ada@example.com"),
  updated_at: updatedAt,
  etag
}).annotations({
  identifier: "Protection",
  description: "the votes that changes of an environment need"
})
export type Protection = typeof Protection.Type
