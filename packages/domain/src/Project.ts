import { Schema } from "effect"
import { ProjectId, ProjectName, Timestamp } from "./Names.js"

export const Project = Schema.Struct({
  id: ProjectId,
  name: ProjectName,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "Project" })
export type Project = typeof Project.Type
