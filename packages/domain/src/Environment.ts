import { Schema } from "effect"
import { EnvId, EnvName, Timestamp } from "./Names.js"

export const Environment = Schema.Struct({
  id: EnvId,
  name: EnvName,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "Environment" })
export type Environment = typeof Environment.Type
