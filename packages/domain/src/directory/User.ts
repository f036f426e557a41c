import * as Schema from "effect/Schema"
import { OwnDelegation } from "./Delegation.js"
import { ServiceAccountId, UserId } from "../base/Ids.js"
import { Email, OrgName, ProjectName, ServiceAccountName } from "../base/Names.js"
import { field, optional } from "../base/Schemas.js"

const type = "user or service account"
const superadmin = "whether it bypasses all roles and rules"

export const User = Schema.Struct({
  id: field(UserId, "its id"),
  type: field(Schema.Literal("user"), type),
  email: field(Email, "the user's address"),
  name: field(Schema.String, "its name", "ada"),
  is_superadmin: field(Schema.Boolean, superadmin, false),
  delegation: optional(OwnDelegation, "the delegation of the credential; absent with any other")
}).annotations({ identifier: "User", description: "the calling user" })
export type User = typeof User.Type

/** How the caller signed in, for people to read. */
export const Via = Schema.String.annotations({
  description: "the federation or the delegation by which the caller signed in; absent for a key or a person's session",
  examples: ["federation github"]
})

export const ServiceAccountIdentity = Schema.Struct({
  id: field(ServiceAccountId, "its id"),
  type: field(Schema.Literal("service_account"), type),
  name: field(ServiceAccountName, "its name"),
  org: field(OrgName, "the organization's name"),
  project: field(Schema.NullOr(ProjectName), "the project that it is bound to; null: the whole organization"),
  is_superadmin: field(Schema.Literal(false), superadmin),
  via: optional(Via)
}).annotations({ identifier: "ServiceAccountIdentity", description: "the calling service account" })
export type ServiceAccountIdentity = typeof ServiceAccountIdentity.Type

/** The owner of a credential. */
export const Identity = Schema.Union(User, ServiceAccountIdentity)
export type Identity = typeof Identity.Type
