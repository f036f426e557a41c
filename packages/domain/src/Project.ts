import * as Schema from "effect/Schema"
import { ProjectId } from "./Ids.js"
import { ProjectName } from "./Names.js"
import { createdAt, field, optional, updatedAt } from "./Schemas.js"

export const Project = Schema.Struct({
  id: field(ProjectId, "its id"),
  name: field(ProjectName, "its name"),
  strict: optional(Schema.Boolean, "true: a value that breaks its declared pattern is refused", false),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "Project",
  description: "a group of environments, such as those of one application"
})
export type Project = typeof Project.Type
