import type { Authentication } from "@coffer/domain/Actor"
import type { FileSystem, HttpApiBuilder, HttpApiEndpoint, HttpServerRequest } from "@effect/platform"
import type { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What a handler may ask for while it serves a request; other services it has from where it is made. */
export type CallServices =
  Authentication | FileSystem.FileSystem | HttpServerRequest.HttpServerRequest | SqlClient.SqlClient

/** The parts of a request that the contract has for its call, decoded. */
export interface Decoded {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly path: unknown
  readonly payload: unknown
  readonly headers: unknown
  readonly urlParams: unknown
}

/** Answers a call with what its success schema encodes, or with an answer that is whole. */
export type Handle = (request: Decoded) => Effect.Effect<unknown, unknown, CallServices>

/** The handlers of the contract's calls, by their endpoints, as the features tell them. */
export class Calls extends Effect.Service<Calls>()("@coffer/server/Calls", {
  sync: () => ({ handlers: new Map<HttpApiEndpoint.HttpApiEndpoint.Any, Handle>() })
}) {}

/** Tells a group's handlers, when all are there, to the server. */
export const serving = <E, Provides, R extends CallServices>(
  group: HttpApiBuilder.Handlers<E, Provides, R>
): Effect.Effect<HttpApiBuilder.Handlers<E, Provides, R>, never, Calls> =>
  Effect.map(Calls, ({ handlers }) => {
    for (const { endpoint, handler } of group.handlers) handlers.set(endpoint, handler)
    return group
  })
