import { Schema } from "effect"
import { ServiceAccountId } from "./Ids.js"
import { ProjectName, ServiceAccountName } from "./Names.js"
import { createdAt, field, Timestamp } from "./Schemas.js"

const fields = {
  id: field(ServiceAccountId, "its id"),
  name: field(ServiceAccountName, "its name"),
  project: field(Schema.NullOr(ProjectName), "the project that it is bound to; null: the whole organization"),
  reveal: field(Schema.Boolean, "whether it may read secret values", true),
  key_hint: field(Schema.String, "the last four characters of the key", "x7Qd"),
  expires_at: field(Schema.NullOr(Timestamp), "time when the key expires; null: never", "2026-05-01T12:00:00.000Z"),
  created_by: field(Schema.String, "the e-mail or service account name of the creator", "ada@example.com"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last use, to about a minute; null: never", null)
}

export const ServiceAccount = Schema.Struct(fields).annotations({
  identifier: "ServiceAccount",
  description: "a machine or an agent, without its key"
})
export type ServiceAccount = typeof ServiceAccount.Type

/** Not a valid key, so that secret scanners do not report the documentation. */
const ApiKey = Schema.Redacted(Schema.String.annotations({ examples: ["svc_sa_…x7Qd"] }))

/** The only record that contains the key; returned once, after creation or rotation. */
export const ServiceAccountWithKey = Schema.Struct({
  ...fields,
  api_key: field(ApiKey, "the key; returned only in this response")
}).annotations({
  identifier: "ServiceAccountWithKey",
  description: "a service account with its new key, which is returned only once"
})
export type ServiceAccountWithKey = typeof ServiceAccountWithKey.Type
