import { Schema } from "effect"
import { SessionId } from "./Ids.js"
import { Timestamp } from "./Schemas.js"

export const Session = Schema.Struct({
  id: SessionId,
  created_at: Timestamp,
  last_used_at: Timestamp,
  ip_address: Schema.NullOr(Schema.String),
  current: Schema.Boolean
}).annotations({ identifier: "Session" })
export type Session = typeof Session.Type
