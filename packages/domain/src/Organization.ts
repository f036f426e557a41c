import { Schema } from "effect"
import { roles } from "./Member.js"
import { openWord, OrgId, OrgName, Timestamp } from "./Names.js"

export const Organization = Schema.Struct({
  id: OrgId,
  name: OrgName,
  role: Schema.NullOr(openWord("OpenRole", roles)).annotations({ description: "the caller's own role, if it has one" }),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "Organization" })
export type Organization = typeof Organization.Type
