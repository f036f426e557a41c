import * as Schema from "effect/Schema"
import { ServiceAccountId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { ProjectName, ServiceAccountName } from "../base/Names.js"
import { etag } from "../base/RecordETag.js"
import { usageField } from "../base/Usage.js"
import { boundedArray, createdAt, field, optional, Timestamp } from "../base/Schemas.js"

const networkMessage = "must be networks such as 10.0.0.0/8 or fd00::/8"
const maxNetworks = 20

/** The server checks the address itself. */
export const AllowedNetwork = Schema.String.annotations(withMessage(networkMessage)).pipe(
  Schema.pattern(/^[0-9A-Fa-f:.]{2,45}(?:\/[0-9]{1,3})?$/, withMessage(networkMessage))
)

/** @param any how a caller lifts the limit, where an empty list would. */
const networkList = (any: string) =>
  boundedArray(AllowedNetwork, {
    items: { type: "string", pattern: "^[0-9A-Fa-f:.]{2,45}(?:/[0-9]{1,3})?$" },
    max: maxNetworks,
    text: `must be at most ${maxNetworks} networks`,
    empty: `must name a network; ${any} to allow any`
  })

export const AllowedNetworks = networkList("leave it out")
export const ChangedNetworks = networkList("send null")

const networksExample = ["10.20.0.0/16"]

const fields = {
  id: field(ServiceAccountId, "its id"),
  name: field(ServiceAccountName, "its name"),
  project: field(Schema.NullOr(ProjectName), "the project that it is bound to; null: the whole organization"),
  reveal: field(Schema.Boolean, "whether it may read secret values", true),
  allowed_networks: optional(
    Schema.Array(Schema.String),
    "the networks that it may call from; left out: any",
    networksExample
  ),
  network_notes: optional(
    Schema.Array(Schema.String),
    "those of its networks, stored by an earlier version, that admit more than they say, each with how to write it; left out if there are none",
    ["::/0 admits all of IPv4 too: write 2000::/3 for all public addresses of IPv6, and networks of IPv4 as such"]
  ),
  key_hint: field(Schema.String, "the last four characters of the key; empty without one", "x7Qd"),
  expires_at: field(Schema.NullOr(Timestamp), "time when the key expires; null: never", "2026-05-01T12:00:00.000Z"),
  created_by: field(Schema.String, "the e-mail or service account name of the creator", "ada@example.com"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last use, to about a minute; null: never", null),
  usage: usageField("`unused`: it made no call in the last 90 days"),
  etag
}

export const ServiceAccount = Schema.Struct(fields).annotations({
  identifier: "ServiceAccount",
  description: "a machine or an agent, without its key"
})
export type ServiceAccount = typeof ServiceAccount.Type

/** Not a valid key, so that secret scanners do not report the documentation. */
const ApiKey = Schema.Redacted(Schema.String.annotations({ examples: ["svc_sa_…x7Qd"] }))

/** As returned after creation: with its key, unless it was made without one. */
export const NewServiceAccount = Schema.Struct({
  ...fields,
  api_key: optional(ApiKey, "the key, unless the account was made without one; returned only in this response")
}).annotations({
  identifier: "NewServiceAccount",
  description: "a new service account; its key is returned only once"
})
export type NewServiceAccount = typeof NewServiceAccount.Type

/** The only record that always contains the key; returned once, after creation or rotation. */
export const ServiceAccountWithKey = Schema.Struct({
  ...fields,
  api_key: field(ApiKey, "the key; returned only in this response")
}).annotations({
  identifier: "ServiceAccountWithKey",
  description: "a service account with its new key, which is returned only once"
})
export type ServiceAccountWithKey = typeof ServiceAccountWithKey.Type

const daysMessage = withMessage("must be a whole number of days from 1 to 3650")
export const Days = Schema.Int.annotations(daysMessage).pipe(
  Schema.between(1, 3650, {
    ...daysMessage,
    description: "days until the key expires, 1 to 3650; default: never",
    examples: [90]
  })
)

const graceMessage = withMessage("must be a whole number of seconds from 0 to 604800 (7 days)")
export const Grace = Schema.Int.annotations(graceMessage).pipe(
  Schema.between(0, 604_800, {
    ...graceMessage,
    description: "how long the old key stays valid, in seconds, at most 604800 (7 days); default: 0",
    examples: [3600]
  })
)
