import { NotFound, ValidationError } from "@coffer/domain/Errors"
import { type HttpApp, HttpMiddleware, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Context, Effect, identity } from "effect"
import type { IncomingMessage } from "node:http"
import { ServerConfig } from "../Config.js"
import { logAccess } from "./AccessLog.js"
import { toApiError, toResponse } from "./Failure.js"
import { RequestInfo } from "./RequestInfo.js"
import { RequestObserver } from "./RequestObserver.js"
import { withRequestSpan } from "./RequestSpan.js"
import { routeOf } from "./Routes.js"

/** HTTP/1.1 has one Host, HTTP/1.0 may have none (RFC 9112, section 3.2); of several, Node would keep the first. */
const hasSoundHost = ({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    if (name.length === 4 && name.toLowerCase() === "host") count++
  }
  return count === 1 ? headers.host !== "" : count === 0 && httpVersion === "1.0"
}

const refusal = (request: HttpServerRequest.HttpServerRequest) => {
  if (!hasSoundHost(NodeHttpServerRequest.toIncomingMessage(request))) {
    return new ValidationError({ message: "the Host header is missing, or there are several" })
  }
  const path = request.url.split("?", 1)[0] ?? ""
  // The router ends a path at `;` or `#`, and takes an empty segment for a parameter.
  return /[;#]|\/\/|.\/$/.test(path) ? new NotFound({ message: "no such path: /openapi.json lists them all" }) : null
}

/** For the access log alone: the client hung up, and its request ended with it. */
const clientGone = HttpServerResponse.empty({ status: 499 })

const standardHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

const corsFor = (allowedOrigins: ReadonlyArray<string>) => {
  if (allowedOrigins.length === 0) return identity
  const cors = HttpMiddleware.cors({
    allowedOrigins,
    allowedMethods: ["GET", "PUT", "PATCH", "POST", "DELETE"],
    allowedHeaders: ["Authorization", "X-API-Key", "Content-Type", "If-Match", "If-None-Match", "X-Request-Id"],
    exposedHeaders: ["ETag", "Retry-After", "X-Request-Id"],
    maxAge: 600
  })
  return <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> => {
    const withCors = cors(app)
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      request.headers.origin === undefined ? app : withCors
    )
  }
}

/**
 * The edge of the server: everything that a request can end with becomes an answer here, and every answer gets the same
 * headers and one line in the access log.
 */
export const boundary = Effect.gen(function* () {
  const { corsAllowedOrigins, tracing } = yield* ServerConfig
  const cors = corsFor(corsAllowedOrigins)
  const observe = yield* RequestObserver
  return <R>(app: HttpApp.Default<unknown, R>) => {
    const guarded = cors(app)
    const safe = Effect.catchAllCause(guarded, (cause) =>
      Cause.isInterruptedOnly(cause) ? clientGone : Effect.map(toApiError(cause), toResponse)
    )
    const handled = Effect.contextWithEffect((context: Context.Context<R | HttpServerRequest.HttpServerRequest>) => {
      const request = Context.get(context, HttpServerRequest.HttpServerRequest)
      const info = Context.get(context, RequestInfo)
      const started = performance.now()
      const refused = refusal(request)
      return Effect.flatMap(refused === null ? safe : Effect.succeed(toResponse(refused)), (answer) => {
        info.route ??= routeOf(request.method, request.url)
        const millis = performance.now() - started
        observe?.(request.method, info.route, answer.status, millis)
        const headed = HttpServerResponse.setHeaders(answer, { ...standardHeaders, "x-request-id": info.id })
        return Effect.as(logAccess(request.method, info, answer.status, millis), headed)
      })
    })
    return tracing === null ? handled : withRequestSpan(handled)
  }
})
