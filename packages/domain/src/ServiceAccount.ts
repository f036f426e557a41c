import { Schema } from "effect"
import { ServiceAccountId } from "./Ids.js"
import { ProjectName, ServiceAccountName } from "./Names.js"
import { Timestamp } from "./Schemas.js"

const fields = {
  id: ServiceAccountId,
  name: ServiceAccountName,
  project: Schema.NullOr(ProjectName),
  reveal: Schema.Boolean,
  key_hint: Schema.String.annotations({ description: "the last four characters of the key" }),
  expires_at: Schema.NullOr(Timestamp),
  created_by: Schema.String,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp)
}

export const ServiceAccount = Schema.Struct(fields).annotations({ identifier: "ServiceAccount" })
export type ServiceAccount = typeof ServiceAccount.Type

/** The only record that contains the key; returned once, after creation or rotation. */
export const ServiceAccountWithKey = Schema.Struct({
  ...fields,
  api_key: Schema.Redacted(Schema.String)
}).annotations({ identifier: "ServiceAccountWithKey" })
export type ServiceAccountWithKey = typeof ServiceAccountWithKey.Type
