import { Conflict } from "@coffer/domain/errors/Errors"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { contentETag, namesETag } from "../../http/ETag.js"

interface State {
  readonly id: EnvId
  readonly revision: number
}

/**
 * Returns the ETag of one or more environments: a hash of their ids, their revisions and the epoch of the database. A
 * restore changes the epoch, so an ETag never recurs with other content.
 */
export const etagOf = (epoch: string, ...states: ReadonlyArray<State>): string =>
  contentETag([...states.map(({ id, revision }) => `${id} ${revision}`), epoch].join(" "))

/** Fails with Conflict if an `If-Match` header does not name the current ETag. */
export const checkMatch = (name: EnvName, ifMatch: string | undefined, etag: string): Effect.Effect<void, Conflict> =>
  ifMatch === undefined || namesETag(ifMatch, etag)
    ? Effect.void
    : new Conflict({ message: `environment ${name} has changed since that ETag: read it again` })
