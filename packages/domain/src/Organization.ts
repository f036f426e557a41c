import { Schema } from "effect"
import { OrgId } from "./Ids.js"
import { roles } from "./Member.js"
import { OrgName } from "./Names.js"
import { extensibleEnum, Timestamp } from "./Schemas.js"

export const Organization = Schema.Struct({
  id: OrgId,
  name: OrgName,
  role: Schema.NullOr(extensibleEnum("OpenRole", roles)).annotations({
    description: "the caller's own role, if it has one"
  }),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "Organization" })
export type Organization = typeof Organization.Type
