import type { Actor } from "@coffer/domain/Actor"
import type { Unauthorized } from "@coffer/domain/Errors"
import { HttpServerError, type HttpServerResponse } from "@effect/platform"
import { Effect, Either } from "effect"
import * as FindMyWay from "find-my-way-ts"
import type { Call } from "./Call.js"
import { makeHeld } from "./Held.js"
import type { CallServices } from "./Calls.js"
import type { NodeRequest } from "./NodeRequest.js"
import type { RequestInfoShape } from "./RequestInfo.js"

/** What answers a request, and who asks, where the call wants to know. */
export interface Routed {
  readonly actor: Actor | null
  readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, CallServices>
}

/** Answers with a failure, whoever asks. */
export const failing = (error: unknown): Routed => ({ actor: null, answer: Effect.fail(error) })

const mebibyte = 1024 * 1024

/** The bodies that are held for callers with a credential: one may hold two of the largest at once. */
const ofActors = makeHeld({ total: 48 * mebibyte, each: 36 * mebibyte })

/** The bodies that are held for clients without one, by their addresses: they cannot use up what the others have. */
const ofStrangers = makeHeld({ total: 4 * mebibyte, each: mebibyte })

/** Finds the call that a request is for, and who asks, at once. Names are matched to the letter. */
export const routing = (
  calls: ReadonlyArray<Call>,
  identify: (headers: NodeRequest["headers"]) => Either.Either<Actor, Unauthorized>
) => {
  const router = FindMyWay.make<Call>({
    maxParamLength: 1000,
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false
  })
  for (const call of calls) router.on(call.method, call.path, call)

  return (request: NodeRequest, info: RequestInfoShape): Routed => {
    const found =
      router.find(request.method, request.url) ??
      (request.method === "HEAD" ? router.find("GET", request.url) : undefined)
    if (found === undefined) return failing(new HttpServerError.RouteNotFound({ request }))
    const { handler: call, params, searchParams } = found
    info.route = call.path
    if (!call.restricted) {
      const caller = { actor: null, hold: ofStrangers(info.ip ?? "") }
      return { actor: null, answer: call.answer(request, params, searchParams, caller) }
    }
    const identified = identify(request.headers)
    if (Either.isLeft(identified)) return failing(identified.left)
    const actor = identified.right
    info.actor = actor.id
    const caller = { actor, hold: ofActors(actor.id) }
    return { actor, answer: call.answer(request, params, searchParams, caller) }
  }
}
