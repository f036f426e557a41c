import * as Schema from "effect/Schema"
import { ApprovalId } from "../base/Ids.js"
import { EnvName, ProjectName, SecretKey } from "../base/Names.js"
import { createdAt, extensibleEnum, field, optional, Timestamp } from "../base/Schemas.js"
import { UseMethod } from "../secrets/UseMethod.js"
import { StoreField } from "../secrets/StoreField.js"

/** A request that waits for a person, as it would be sent. */
export const Approval = Schema.Struct({
  id: field(ApprovalId, "its id"),
  state: field(
    extensibleEnum("ApprovalState", "pending, approved, refused or used", ["pending", "approved", "refused", "used"]),
    "pending, approved, refused or used"
  ),
  project: field(ProjectName, "the project"),
  env: field(EnvName, "the environment"),
  account: field(Schema.String, "who asks: the name of a service account, or an e-mail", "agent"),
  secrets: field(Schema.Array(SecretKey), "the keys of the secrets", [SecretKey.make("STRIPE_KEY")]),
  method: field(UseMethod, "the method", "POST"),
  url: field(Schema.String, "the address", "https://api.stripe.com/v1/refunds"),
  headers: field(
    Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
      jsonSchema: { type: "object", additionalProperties: { type: "string" } }
    }),
    "the headers of the caller; those with values are added when it is sent",
    { "content-type": "application/x-www-form-urlencoded" }
  ),
  body: optional(Schema.String, "the body, if it is text", "charge=ch_1"),
  body_base64: optional(Schema.String, "the body in base64, if it is not text"),
  store: optional(StoreField, "the field of the answer that is stored as a secret"),
  created_at: createdAt,
  expires_at: field(Timestamp, "time when the request or its approval ends", "2026-01-31T12:05:00.000Z")
}).annotations({
  identifier: "Approval",
  description: "a request with a secret that a person has to approve, as it would be sent"
})
export type Approval = typeof Approval.Type
