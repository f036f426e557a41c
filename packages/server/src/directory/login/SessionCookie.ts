import { ValidationError } from "@coffer/domain/errors/Errors"
import type * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Settings } from "../../base/Config.js"
import { type Reach, reachOf, sessionCookie, sessionCookieName } from "../../http/Browser.js"
import { sessionMillis } from "../../access/caller/SessionLimits.js"

/** How a browser that may get cookies reaches the server. Fails over plain HTTP, where anyone on the way could read them. */
export const cookieReach = (settings: Settings, headers: Headers.Headers): Effect.Effect<Reach, ValidationError> => {
  const reach = reachOf(settings, headers)
  return reach === "plain"
    ? new ValidationError({
        message:
          "a browser's session needs https: set SERVICE_PUBLIC_URL to the https address of this server, or use it on loopback"
      })
    : Effect.succeed(reach)
}

const attributesOf = (reach: Reach) =>
  ({ httpOnly: true, sameSite: "strict", path: "/", secure: reach === "https" }) as const

type Response = HttpServerResponse.HttpServerResponse

/** `Strict`: the browser sends it with no request that another site caused, not even for a link. */
export const setSessionCookie = (response: Response, reach: Reach, token: Redacted.Redacted): Response =>
  HttpServerResponse.unsafeSetCookie(response, sessionCookieName(reach), Redacted.value(token), {
    ...attributesOf(reach),
    maxAge: Duration.millis(sessionMillis)
  })

/** Deletes the cookie of a browser whose session the request is of. */
export const clearSessionCookie = (response: Response, settings: Settings, headers: Headers.Headers): Response => {
  const reach = reachOf(settings, headers)
  return sessionCookie(settings, headers) === null
    ? response
    : HttpServerResponse.unsafeSetCookie(response, sessionCookieName(reach), "", {
        ...attributesOf(reach),
        maxAge: Duration.zero
      })
}
