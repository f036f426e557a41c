import * as Schema from "effect/Schema"
import { SessionId } from "./Ids.js"
import { createdAt, field, Timestamp } from "./Schemas.js"

/** How a session's token travels: in the Authorization header, or in a browser's cookie. */
export type SessionKind = "token" | "cookie"

export const Session = Schema.Struct({
  id: field(SessionId, "its id"),
  created_at: createdAt,
  last_used_at: field(Timestamp, "time of the last use, to about a minute", "2026-02-01T08:30:00.000Z"),
  ip_address: field(
    Schema.NullOr(Schema.String),
    "the client's address, as reported by the proxy; null if unknown",
    "203.0.113.7"
  ),
  current: field(Schema.Boolean, "whether this is the session of the request", true)
}).annotations({ identifier: "Session", description: "an active session, without its token" })
export type Session = typeof Session.Type
