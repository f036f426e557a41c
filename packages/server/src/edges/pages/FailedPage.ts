import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { errorResponse, toApiError } from "../../http/Failure.js"
import { TooSlow } from "../../http/Body.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { failedPage } from "./LoginPages.js"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/** Turns every failure of a page into a page that says what went wrong. */
export const orFailedPage = <E, R>(made: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catchAllCause(made, (cause) =>
    Effect.flatMap(NodeRequest.current, ({ info }) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
      return Cause.squash(cause) instanceof TooSlow
        ? errorResponse(cause, info.id)
        : Effect.map(toApiError(cause, info.id), failedPage)
    })
  )
