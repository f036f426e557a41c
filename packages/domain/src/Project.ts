import { Schema } from "effect"
import { ProjectId } from "./Ids.js"
import { ProjectName } from "./Names.js"
import { Timestamp } from "./Schemas.js"

export const Project = Schema.Struct({
  id: ProjectId,
  name: ProjectName,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "Project" })
export type Project = typeof Project.Type
