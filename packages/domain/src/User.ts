import { Schema } from "effect"
import { ServiceAccountId, UserId } from "./Ids.js"
import { Email, OrgName, ProjectName, ServiceAccountName } from "./Names.js"

export const User = Schema.Struct({
  id: UserId,
  type: Schema.Literal("user"),
  email: Email,
  name: Schema.String,
  is_superadmin: Schema.Boolean
}).annotations({ identifier: "User" })
export type User = typeof User.Type

export const ServiceAccountIdentity = Schema.Struct({
  id: ServiceAccountId,
  type: Schema.Literal("service_account"),
  name: ServiceAccountName,
  org: OrgName,
  project: Schema.NullOr(ProjectName),
  is_superadmin: Schema.Literal(false)
}).annotations({ identifier: "ServiceAccountIdentity" })
export type ServiceAccountIdentity = typeof ServiceAccountIdentity.Type

/** The owner of a credential. */
export const Identity = Schema.Union(User, ServiceAccountIdentity)
export type Identity = typeof Identity.Type
