import { Conflict } from "@coffer/domain/Errors"
import type { EnvId } from "@coffer/domain/Ids"
import type { EnvName } from "@coffer/domain/Names"
import { Effect } from "effect"
import { createHash } from "node:crypto"

interface State {
  readonly id: EnvId
  readonly revision: number
}

/**
 * The ETag of one environment, or of several together. It never recurs with other content: it stands for the environments,
 * their revisions, and the epoch of the database, which a restored file gets anew.
 */
export const etagOf = (epoch: string, ...states: ReadonlyArray<State>): string =>
  `"${createHash("sha256")
    .update([...states.map(({ id, revision }) => `${id} ${revision}`), epoch].join(" "))
    .digest("base64url")
    .slice(0, 27)}"`

/**
 * Whether an `If-Match` or `If-None-Match` header (RFC 9110, section 13.1) names an ETag. A tag that a proxy has marked as
 * weak counts too: the proxy compresses the response, and what is compared is the environment's revision.
 */
export const namesETag = (header: string, etag: string): boolean =>
  header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)

/** Fails with Conflict when an `If-Match` header names another ETag than the current one. */
export const checkMatch = (name: EnvName, ifMatch: string | undefined, etag: string): Effect.Effect<void, Conflict> =>
  ifMatch === undefined || namesETag(ifMatch, etag)
    ? Effect.void
    : new Conflict({ message: `environment ${name} has changed since that ETag: read it again` })
