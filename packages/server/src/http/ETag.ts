import { Conflict } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"

/**
 * Whether an `If-Match` or `If-None-Match` header (RFC 9110, section 13.1) names an ETag. Weak tags count, because
 * proxies that compress responses mark tags as weak. What the tag stands for is the same.
 */
export const namesETag = (header: string, etag: string): boolean =>
  header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)

/** The ETag of a content: a hash of it. */
export const contentETag = (content: string | Uint8Array): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`

/** The ETag of everything that a response, or a change of a record, depends on. */
export const etagOfAll = (...parts: ReadonlyArray<unknown>): string => contentETag(JSON.stringify(parts))

/** Fails with Conflict if a change was made for another state of a record than it has now. */
export const checkRecord = (
  what: string,
  ifMatch: string | undefined,
  current: string | undefined
): Effect.Effect<void, Conflict> =>
  ifMatch === undefined || (current !== undefined && namesETag(ifMatch, current))
    ? Effect.void
    : new Conflict({ message: `${what} has changed since it was read: read it again` })
