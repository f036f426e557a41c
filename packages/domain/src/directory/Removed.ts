import * as Schema from "effect/Schema"
import { RemovedId } from "../base/Ids.js"
import { field, optional, Timestamp } from "../base/Schemas.js"

/** How many removed places a list has. */
export const maxRemoved = 200

export const Removed = Schema.Struct({
  id: field(RemovedId, "its id, by which it is restored or erased"),
  name: field(Schema.String, "the name that it had", "qa"),
  protected: optional(Schema.Boolean, "true: it is, or holds, a protected environment. Left out if not", true),
  removed_by: field(Schema.String, "who removed it", "ada@example.com"),
  removed_at: field(Timestamp, "when it was removed", "2026-02-01T08:30:00.000Z"),
  restorable_until: field(
    Timestamp,
    "until when it can be restored; its values are erased after that",
    "2026-03-03T08:30:00.000Z"
  )
}).annotations({
  identifier: "Removed",
  description: "an organization, project or environment that was removed and can be restored"
})
export type Removed = typeof Removed.Type
