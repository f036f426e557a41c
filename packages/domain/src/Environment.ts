import * as Schema from "effect/Schema"
import { EnvId } from "./Ids.js"
import { EnvName } from "./Names.js"
import { createdAt, field, updatedAt } from "./Schemas.js"

export const Environment = Schema.Struct({
  id: field(EnvId, "its id"),
  name: field(EnvName, "its name"),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({ identifier: "Environment", description: "a stage of a project, with secrets of its own" })
export type Environment = typeof Environment.Type
