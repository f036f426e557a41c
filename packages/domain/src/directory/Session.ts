import * as Schema from "effect/Schema"
import { SessionId } from "../base/Ids.js"
import { createdAt, field, flagParameter, optional, Timestamp } from "../base/Schemas.js"

/** How a session's token travels: in the Authorization header, or in a browser's cookie. */
export type SessionKind = "token" | "cookie"

export const OthersParameter = flagParameter("`1`: all but the session of the request")

export const Session = Schema.Struct({
  id: field(SessionId, "its id"),
  created_at: createdAt,
  last_used_at: field(Timestamp, "time of the last use, to about a minute", "2026-02-01T08:30:00.000Z"),
  ip_address: field(
    Schema.NullOr(Schema.String),
    "the client's address at the last use, as reported by the proxy; null if unknown",
    "203.0.113.7"
  ),
  program: optional(
    Schema.String,
    "the program that logged in, by its own claim: `cli`, or `browser`; absent if unknown",
    "cli"
  ),
  machine: optional(Schema.String, "the name of its machine, by its own claim; absent if unknown", "adas-laptop"),
  user_agent: optional(
    Schema.String,
    "how the browser names itself, at most 256 characters; absent for programs",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
  ),
  passkey_at: optional(
    Timestamp,
    "time when the person last proved the session with a passkey; absent if never",
    "2026-02-01T08:30:00.000Z"
  ),
  current: field(Schema.Boolean, "whether this is the session of the request", true)
}).annotations({ identifier: "Session", description: "an active session, without its token" })
export type Session = typeof Session.Type
