import { Schema } from "effect"
import { EnvId } from "./Ids.js"
import { EnvName } from "./Names.js"
import { Timestamp } from "./Schemas.js"

export const Environment = Schema.Struct({
  id: EnvId,
  name: EnvName,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "Environment" })
export type Environment = typeof Environment.Type
