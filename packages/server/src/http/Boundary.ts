import { Api } from "@coffer/domain/Api"
import type { MethodNotAllowed, NotFound } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { ServerConfig } from "../base/Config.js"
import { AccessLog } from "../base/logging/AccessLog.js"
import { makeCompression } from "./Compression.js"
import { conditional } from "./Polled.js"
import { smallResponse, tooManyResponses } from "./LargeResponses.js"
import { type ErrorForm, errorResponse, toResponse, unrouted } from "./Failure.js"
import { isVaultPath } from "./vault/Target.js"
import { isScimPath, scimError } from "./scim/ScimErrors.js"
import { isAgentPath, isMcpPath } from "./mcp/McpOrigins.js"
import { mcpError } from "./mcp/McpErrors.js"
import { vaultError } from "./vault/Errors.js"
import { NodeRequest } from "./NodeRequest.js"
import { refusal } from "./RefusedRequest.js"
import { requestHeaders } from "./RequestHeaders.js"
import { RequestObserver } from "./RequestObserver.js"
import { withRequestSpan } from "./RequestSpan.js"
import { routePatternOf } from "./Routes.js"

/** For the access log only: the client closed the connection, which interrupted its request. */
const clientGone = HttpServerResponse.empty({ status: 499 })

/** The headers that pages of agents may send to the tool server, and read of its responses. */
const corsForMcp = (allowedOrigins: ReadonlyArray<string>) =>
  HttpMiddleware.cors({
    allowedOrigins,
    allowedMethods: ["GET", "POST"],
    allowedHeaders: [
      "Authorization",
      "X-API-Key",
      "Content-Type",
      "Accept",
      "MCP-Protocol-Version",
      "Mcp-Method",
      "Mcp-Name"
    ],
    exposedHeaders: ["WWW-Authenticate", "Retry-After", "X-Request-Id"],
    maxAge: 600
  })

const corsFor = (allowedOrigins: ReadonlyArray<string>) =>
  HttpMiddleware.cors({
    allowedOrigins,
    allowedMethods: ["GET", "PUT", "PATCH", "POST", "DELETE"],
    allowedHeaders: requestHeaders(Api),
    exposedHeaders: ["ETag", "Retry-After", "X-Request-Id"],
    maxAge: 600
  })

/** Reserves memory for a large response until it was sent. Static documents are exempt: all responses share their bytes. */
const withReservation = (
  { info, memory, method }: NodeRequest,
  response: HttpServerResponse.HttpServerResponse,
  form: ErrorForm
): HttpServerResponse.HttpServerResponse => {
  const size = response.body._tag === "Uint8Array" && info.actor !== null ? response.body.contentLength : 0
  const isHeld = memory.hold(size > smallResponse ? size : 0)
  // A committed change must not be reported as failed, so only reads are refused.
  return isHeld || method !== "GET" ? response : form(tooManyResponses)
}

/** Keeps the `Vary` of a response, which the CORS handler replaces. */
const withVaryOf = (
  { headers: { vary } }: HttpServerResponse.HttpServerResponse,
  handled: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const added = handled.headers["vary"]
  return vary === undefined || added === undefined || added === vary
    ? handled
    : HttpServerResponse.setHeader(handled, "vary", `${vary}, ${added}`)
}

/** Runs the handlers that were registered for the response, such as the one that sets an ETag. */
const withPreResponseHandlers = (
  request: NodeRequest,
  response: HttpServerResponse.HttpServerResponse,
  form: ErrorForm
) => {
  const handlers = Option.flatMap(Fiber.getCurrentFiber(), (fiber) =>
    fiber.getFiberRef(HttpApp.currentPreResponseHandlers)
  )
  return Option.isNone(handlers)
    ? Effect.succeed(response)
    : Effect.catchAllCause(
        Effect.map(handlers.value(request, response), (handled) => withVaryOf(response, handled)),
        (cause) => errorResponse(cause, request.info.id, form)
      )
}

/** The outermost middleware: turns every failure into the error envelope and writes the access log. */
export const BoundaryLive = HttpApiBuilder.middleware(
  Effect.gen(function* () {
    const settings = yield* ServerConfig
    const { corsAllowedOrigins, mcp, mcpOrigins, tracing, vaultApi } = settings
    const formFor = (request: NodeRequest): ErrorForm => {
      if (vaultApi && isVaultPath(request.url)) return vaultError
      if (isScimPath(request.url)) return scimError
      return mcp && isMcpPath(request.url) ? mcpError(settings, request) : toResponse
    }
    const observe = yield* RequestObserver
    const log = yield* AccessLog
    const compress = makeCompression()
    const hasCors = corsAllowedOrigins.length > 0
    const cors = corsFor(corsAllowedOrigins)
    const mcpCors = corsForMcp(mcpOrigins)
    return (app) => {
      return Effect.flatMap(NodeRequest.current, (request) => {
        const { headers, info, sentMethod } = request
        const started = performance.now()
        const form = formFor(request)
        const refused = refusal(request, settings)
        // The toolkit's type of methods has no others, so they cannot be left to its router.
        const routed: HttpApp.Default<MethodNotAllowed | NotFound> = HttpMethod.isHttpMethod(sentMethod)
          ? app
          : unrouted(sentMethod, request.url)
        const withCors = (app: typeof routed): typeof routed => {
          if (headers.origin === undefined) return app
          if (isAgentPath(request.url)) return mcpOrigins.includes(headers.origin) ? mcpCors(app) : app
          return hasCors ? cors(app) : app
        }
        const answered =
          refused === null
            ? Effect.catchAllCause(withCors(routed), (cause) =>
                Cause.isInterruptedOnly(cause) ? Effect.succeed(clientGone) : errorResponse(cause, info.id, form)
              )
            : Effect.succeed(form(refused))
        const handled = Effect.flatMap(answered, (answer) => {
          const response = withReservation(request, answer, form)
          info.route ??= routePatternOf(sentMethod, request.url)
          const millis = performance.now() - started
          observe?.(sentMethod, info.route, response.status, millis)
          log(sentMethod, info, response.status, millis)
          const handled = withPreResponseHandlers(request, response, form)
          const sent = request.isPolled ? Effect.map(handled, (plain) => conditional(request, plain)) : handled
          return request.isCompressible ? Effect.flatMap(sent, (plain) => compress(request, plain)) : sent
        })
        return tracing === null ? handled : withRequestSpan(request, handled)
      })
    }
  })
)
