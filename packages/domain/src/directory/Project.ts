import * as Schema from "effect/Schema"
import { EnvironmentNames } from "./Environment.js"
import { ProjectId } from "../base/Ids.js"
import { EnvName, ProjectName } from "../base/Names.js"
import { createdAt, field, optional, updatedAt } from "../base/Schemas.js"

export const Project = Schema.Struct({
  id: field(ProjectId, "its id"),
  name: field(ProjectName, "its name"),
  strict: optional(Schema.Boolean, "true: a value that breaks its declared pattern is refused", false),
  order: optional(
    EnvironmentNames,
    "the project's own order of its environments; those that it does not name follow, by stage and name. Left out if it has none, and in lists",
    [EnvName.make("dev"), EnvName.make("prod")]
  ),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "Project",
  description: "a group of environments, such as those of one application"
})
export type Project = typeof Project.Type
