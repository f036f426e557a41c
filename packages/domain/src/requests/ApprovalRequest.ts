import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { OpenPermission } from "../access/AclRule.js"
import { RequestId, RuleId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { EnvName, ProjectName, SecretKey } from "../base/Names.js"
import { isReason, reasonForm } from "../base/ReasonForm.js"
import { Count, createdAt, extensibleEnum, field, list, optional, Timestamp } from "../base/Schemas.js"

export const requestKinds = ["access", "change"] as const
export type RequestKind = (typeof requestKinds)[number]

export const requestStates = ["pending", "done", "refused", "withdrawn", "expired", "outdated"] as const
export type RequestState = (typeof requestStates)[number]

const reasonMessage = withMessage(reasonForm.message)

/** Why somebody asks, for the people who vote. */
export const Reason = Schema.String.pipe(
  Schema.filter(isReason, {
    ...reasonMessage,
    jsonSchema: { type: "string", minLength: 1, maxLength: reasonForm.maxLength },
    description: "a reason, on one line, for the people who vote",
    examples: ["INC-12"]
  })
)

/** A note on a revision. Its form is that of a reason. */
export const RevisionNote = Schema.String.pipe(
  Schema.filter(isReason, {
    ...reasonMessage,
    jsonSchema: { type: "string", minLength: 1, maxLength: reasonForm.maxLength },
    description: "what is said of the revision, on one line; its history shows it",
    examples: ["imported from doppler:webshop/prd"]
  })
)

/** A voter's comment on a vote, for the requester. Its form is that of a reason. */
export const VoteComment = Schema.String.pipe(
  Schema.filter(isReason, {
    ...reasonMessage,
    jsonSchema: { type: "string", minLength: 1, maxLength: reasonForm.maxLength },
    description: "what the person says of the vote, on one line",
    examples: ["not before the release"]
  })
)

const secondsMessage = withMessage("must be a whole number of seconds from 60 to 2592000 (30 days)")

/** How long access is asked for, in seconds. */
export const AccessSeconds = Schema.Int.annotations(secondsMessage).pipe(
  Schema.between(60, 2_592_000, {
    ...secondsMessage,
    description: "how long the access lasts after its approval, in seconds",
    examples: [3_600]
  })
)

/** The ways in which a pending change may alter a key. */
const RequestedKey = Schema.Struct({
  key: field(SecretKey, "the key"),
  change: field(
    extensibleEnum("RequestedChange", "what happens to the key", [
      "created",
      "updated",
      "deleted",
      "undeleted",
      "destroyed",
      "due",
      "use_rule"
    ]),
    "what happens to the key",
    "updated"
  ),
  version: field(Count, "the version of the secret when the change was asked for; 0: there was none", 3)
}).annotations({ identifier: "RequestedKey", description: "a key that a requested change alters, without its value" })
export type RequestedKey = typeof RequestedKey.Type

export const RequestVote = Schema.Struct({
  by: field(Schema.String, "the e-mail of the person", "grace@example.com"),
  vote: field(extensibleEnum("Vote", "approve or refuse", ["approve", "refuse"]), "approve or refuse"),
  comment: optional(Schema.String, "what the person says of the vote", "not before the release"),
  created_at: createdAt
}).annotations({ identifier: "RequestVote", description: "a person's vote" })

export const ApprovalRequest = Schema.Struct({
  id: field(RequestId, "its id"),
  kind: field(extensibleEnum("RequestKind", "access or change", requestKinds), "access or change", "change"),
  state: field(extensibleEnum("RequestState", "where it stands", requestStates), "where it stands", "pending"),
  project: field(ProjectName, "the project"),
  env: field(EnvName, "the environment", EnvName.make("prod")),
  requester: field(Schema.String, "who asks: an e-mail, or the name of a service account", "ada@example.com"),
  reason: optional(Schema.String, "why", "INC-12"),
  call: optional(
    Schema.String,
    "the call that is made when it is approved, by its name in the contract; only of a change",
    "secrets.set"
  ),
  details: optional(
    Schema.Array(Schema.String),
    "what else the call asks for, such as the terms of a use rule or of the protection; never a value; only of a change",
    ["hosts: api.stripe.com"]
  ),
  keys: optional(Schema.Array(RequestedKey), "the keys that it alters, without values; only of a change"),
  permission: optional(OpenPermission, "the permission; only of access", "read"),
  expires_in: optional(Count, "how long the access lasts after its approval, in seconds; only of access", 3_600),
  rule_id: optional(RuleId, "the access rule that its approval made; only of access"),
  revision: optional(Count, "the revision that its approval made; only of a change of secrets", 13),
  needed: field(Count, "how many people have to approve it", 2),
  votes: field(Schema.Array(RequestVote), "the votes, oldest first", []),
  outdated: optional(Schema.Array(Schema.String), "what has changed since, by key; only of one that is outdated", [
    "DATABASE_URL is at version 4, and was at 3"
  ]),
  may_vote: field(Schema.Boolean, "whether the caller may vote now", true),
  is_own: field(Schema.Boolean, "whether the caller asked, and may withdraw it", false),
  was_waiting: optional(
    Schema.Boolean,
    "true in the response to a change that its caller had asked for already: no second request is made",
    true
  ),
  created_at: createdAt,
  expires_at: field(Timestamp, "when it ends without enough votes", "2026-02-03T12:00:00.000Z"),
  decided_at: optional(Timestamp, "when it ended", "2026-01-31T13:00:00.000Z")
}).annotations({
  identifier: "ApprovalRequest",
  description: "a request for access to an environment or for a change of it, which people vote on"
})
export type ApprovalRequest = typeof ApprovalRequest.Type

export const RequestPage = Schema.Struct({
  ...list(ApprovalRequest).fields,
  pagination: field(
    Schema.Struct({
      limit: field(Count, "maximum number of records in a page", 20),
      has_next: field(Schema.Boolean, "whether there are more records", true),
      next_cursor: field(
        Schema.NullOr(Schema.String),
        "the `after` of the next page; null at the end",
        "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8"
      )
    }),
    "position of this page in the list"
  )
}).annotations({ identifier: "RequestPage", description: "a page of requests, newest first" })
export type RequestPage = typeof RequestPage.Type

/** The message of a response of 202, in a sentence. */
export const changeRequestedMessage = (id: string, wasWaiting = false): string =>
  wasWaiting
    ? `nothing was changed yet: request ${id} asks for the same already, and waits for approval`
    : `nothing was changed yet: the environment is protected, and request ${id} waits for approval`

/**
 * The change was not made: it waits for votes. The response is 202 with the request. For a caller it is a failure, since what
 * it asked for has not happened.
 */
export class ChangeRequested extends Schema.TaggedError<ChangeRequested>("coffer/ChangeRequested")("ChangeRequested", {
  request: ApprovalRequest,
  /** The path of the request, for the header of the response. */
  location: Schema.optionalWith(Schema.String, { exact: true })
}) {
  readonly code = "CHANGE_REQUESTED"
  readonly status = 202

  override get message(): string {
    return changeRequestedMessage(this.request.id, this.request.was_waiting)
  }
}

/** The response of 202: the request itself. */
export const ChangeRequestedResponse = Schema.transform(ApprovalRequest, Schema.typeSchema(ChangeRequested), {
  strict: true,
  decode: (request) => new ChangeRequested({ request }),
  encode: ({ request }) => request
}).annotations({
  ...HttpApiSchema.annotations({ status: 202 }),
  identifier: "ChangeRequested",
  description: "The environment is protected, and the caller sent `Prefer: respond-async`: the request waits for votes"
})
