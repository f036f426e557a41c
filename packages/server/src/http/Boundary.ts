import { Api } from "@coffer/domain/Api"
import { NotFound, ValidationError } from "@coffer/domain/Errors"
import {
  Headers,
  HttpApiBuilder,
  type HttpApp,
  HttpMethod,
  HttpMiddleware,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Effect, identity, Option } from "effect"
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { ServerConfig } from "../Config.js"
import { logAccess } from "./AccessLog.js"
import { readBody } from "./Body.js"
import { toApiError, toResponse } from "./Failure.js"
import { RequestInfo, requestId, type RequestInfoShape } from "./RequestInfo.js"
import { RequestObserver } from "./RequestObserver.js"
import { withRequestSpan } from "./RequestSpan.js"
import { bodyLimitOf, routeOf } from "./Routes.js"

const asAddress = (text: string | undefined): string | null => {
  const address = text?.trim().replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "")
  return address !== undefined && isIP(address) !== 0 ? address : null
}

/** What the proxy says the client's address is, when it is an address at all; else the connection's own. */
const addressOf = (request: HttpServerRequest.HttpServerRequest): string | null =>
  asAddress(request.headers["x-real-ip"]) ??
  asAddress(request.headers["x-forwarded-for"]?.split(",", 1)[0]) ??
  asAddress(Option.getOrUndefined(request.remoteAddress))

const clientOf = (request: HttpServerRequest.HttpServerRequest): string | null => {
  const client = request.headers["x-coffer-client"]
  return client !== undefined && /^[a-z0-9-]{1,32}$/.test(client) ? client : null
}

const infoOf = (request: HttpServerRequest.HttpServerRequest): RequestInfoShape => ({
  id: requestId(request.headers["x-request-id"]),
  ip: addressOf(request),
  client: clientOf(request),
  route: null,
  actor: null
})

/**
 * The request with a reader of our own for its body, which the toolkit calls once it has found the route and the caller
 * has been authenticated.
 */
const withOwnBody = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const json = Effect.flatMap(Effect.serviceOption(HttpRouter.RouteContext), (context) =>
    Effect.orDie(
      readBody(
        source,
        Option.match(context, {
          onNone: () => 0,
          onSome: ({ route }) => bodyLimitOf(route.method, route.path)
        })
      )
    )
  )
  return Object.defineProperty(
    request.modify({ headers: Headers.set(request.headers, "content-type", "application/json") }),
    "json",
    { value: json }
  )
}

/** HTTP/1.1 has one Host, HTTP/1.0 may have none (RFC 9112, section 3.2); of several, Node would keep the first. */
const hasSoundHost = ({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean => {
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length
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
  return (app: HttpApp.Default): HttpApp.Default => {
    const withCors = cors(app)
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      request.headers.origin === undefined ? app : withCors
    )
  }
}

/**
 * The edge of the server: every request gets an id, its client's address and our own reader for its body; everything that
 * it can end with becomes an answer here, and every answer gets the same headers and one line in the access log.
 */
export const BoundaryLive = HttpApiBuilder.middleware(
  Api,
  Effect.gen(function* () {
    const { corsAllowedOrigins, tracing } = yield* ServerConfig
    const cors = corsFor(corsAllowedOrigins)
    const observe = yield* RequestObserver
    return (app: HttpApp.Default) => {
      const guarded = cors(app)
      const handled = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const started = performance.now()
        const info = infoOf(request)
        const refused = refusal(request)
        const answer = yield* (refused === null ? guarded : Effect.die(refused)).pipe(
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause) ? clientGone : Effect.map(toApiError(cause), toResponse)
          ),
          Effect.provideService(
            HttpServerRequest.HttpServerRequest,
            HttpMethod.hasBody(request.method) ? withOwnBody(request) : request
          ),
          Effect.provideService(RequestInfo, info)
        )
        info.route ??= routeOf(request.method, request.url)
        const millis = performance.now() - started
        observe?.(request.method, info.route, answer.status, millis)
        yield* logAccess(request.method, info, answer.status, millis)
        return HttpServerResponse.setHeaders(answer, { ...standardHeaders, "x-request-id": info.id })
      })
      return tracing === null ? handled : withRequestSpan(handled)
    }
  })
)
