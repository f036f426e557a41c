import type { Actor } from "@coffer/domain/Actor"
import type { Unauthorized } from "@coffer/domain/Errors"
import { HttpServerError, type HttpServerResponse } from "@effect/platform"
import { Effect, Either } from "effect"
import * as FindMyWay from "find-my-way-ts"
import type { Call, Caller } from "./Call.js"
import { makeHeld } from "./Held.js"
import type { CallServices } from "./Calls.js"
import type { NodeRequest } from "./NodeRequest.js"
import type { RequestInfoShape } from "./RequestInfo.js"

/** What answers a request, and who asks, where the call wants to know. */
export interface Routed {
  readonly caller: Caller | null
  readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, CallServices>
}

/** Answers with a failure, whoever asks. */
export const failing = (error: unknown): Routed => ({ caller: null, answer: Effect.fail(error) })

const mebibyte = 1024 * 1024

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

  // One caller may hold two of the largest bodies at once.
  const bodies = makeHeld({ total: 40 * mebibyte, each: 36 * mebibyte })
  // By their addresses: clients without a credential cannot use up what the others have.
  const bodiesOfStrangers = makeHeld({ total: 4 * mebibyte, each: mebibyte })
  // Those that wait for their clients and are not small.
  const answers = makeHeld({ total: 16 * mebibyte, each: 12 * mebibyte })

  return (request: NodeRequest, info: RequestInfoShape): Routed => {
    const found =
      router.find(request.method, request.url) ??
      (request.method === "HEAD" ? router.find("GET", request.url) : undefined)
    if (found === undefined) return failing(new HttpServerError.RouteNotFound({ request }))
    const { handler: call, params, searchParams } = found
    info.route = call.path
    if (!call.restricted) {
      const caller = { actor: null, body: bodiesOfStrangers(info.ip ?? ""), answer: answers("") }
      return { caller, answer: call.answer(request, params, searchParams, caller) }
    }
    const identified = identify(request.headers)
    if (Either.isLeft(identified)) return failing(identified.left)
    const actor = identified.right
    info.actor = actor.id
    const caller = { actor, body: bodies(actor.id), answer: answers(actor.id) }
    return { caller, answer: call.answer(request, params, searchParams, caller) }
  }
}
