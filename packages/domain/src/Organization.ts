import * as Schema from "effect/Schema"
import { OrgId } from "./Ids.js"
import { OpenRole } from "./Member.js"
import { OrgName } from "./Names.js"
import { createdAt, field, updatedAt } from "./Schemas.js"

export const Organization = Schema.Struct({
  id: field(OrgId, "its id"),
  name: field(OrgName, "its name"),
  role: field(Schema.NullOr(OpenRole), "the caller's own role, if it has one", "owner"),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "Organization",
  description: "a tenant: organizations are isolated from each other"
})
export type Organization = typeof Organization.Type
