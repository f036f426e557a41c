import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { namesETag } from "../../http/ETag.js"

/** A change for another state of a resource than it has now (RFC 7644, section 3.14). */
export class OutdatedRecord extends Data.TaggedError("OutdatedRecord")<{ readonly message: string }> {}

export const checkETag = (
  what: string,
  ifMatch: string | undefined,
  current: string
): Effect.Effect<void, OutdatedRecord> =>
  ifMatch === undefined || namesETag(ifMatch, current)
    ? Effect.void
    : new OutdatedRecord({ message: `${what} has changed since it was read: read it again` })
