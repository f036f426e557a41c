import { HttpApiBuilder, HttpApp, HttpMiddleware, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Fiber, Option } from "effect"
import { ServerConfig } from "../Config.js"
import { AccessLog } from "./AccessLog.js"
import { tooManyAnswers } from "./Admission.js"
import { answerTo, toResponse } from "./Failure.js"
import { NodeRequest } from "./NodeRequest.js"
import { refusal } from "./Refusal.js"
import { RequestObserver } from "./RequestObserver.js"
import { withRequestSpan } from "./RequestSpan.js"
import { routePatternOf } from "./Routes.js"

/** Only for the access log: the client hung up, which interrupted its request. */
const clientGone = HttpServerResponse.empty({ status: 499 })

const corsFor = (allowedOrigins: ReadonlyArray<string>) =>
  HttpMiddleware.cors({
    allowedOrigins,
    allowedMethods: ["GET", "PUT", "PATCH", "POST", "DELETE"],
    allowedHeaders: ["Authorization", "X-API-Key", "Content-Type", "If-Match", "If-None-Match", "X-Request-Id"],
    exposedHeaders: ["ETag", "Retry-After", "X-Request-Id"],
    maxAge: 600
  })

/** A response of this size fits into the system's own buffer of a connection, in bytes. */
const smallResponse = 64 * 1024

/** Counts a response that is not small as held until it has left. The documents are shared by all responses. */
const held = (
  { info, method, responseHold }: NodeRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  responseHold?.release()
  const size = response.body._tag === "Uint8Array" && info.actor !== null ? response.body.contentLength : 0
  // A change is reported in any case: to say that it was not made would be wrong.
  return size <= smallResponse || responseHold?.take(size) !== false || method !== "GET"
    ? response
    : toResponse(tooManyAnswers)
}

/** Applies what was attached to a response while it was made, such as an ETag. */
const finished = (request: NodeRequest, response: HttpServerResponse.HttpServerResponse) => {
  const handlers = Option.flatMap(Fiber.getCurrentFiber(), (fiber) =>
    fiber.getFiberRef(HttpApp.currentPreResponseHandlers)
  )
  return Option.isNone(handlers)
    ? Effect.succeed(response)
    : Effect.catchAllCause(handlers.value(request, response), (cause) => answerTo(cause, request.info.id))
}

/** The edge of the server: turns every failure into the envelope, and writes one line a request to the access log. */
export const BoundaryLive = HttpApiBuilder.middleware(
  Effect.gen(function* () {
    const { corsAllowedOrigins, tracing } = yield* ServerConfig
    const observe = yield* RequestObserver
    const log = yield* AccessLog
    return (app) => {
      const withCors = corsAllowedOrigins.length === 0 ? app : corsFor(corsAllowedOrigins)(app)
      return Effect.flatMap(NodeRequest.current, (request) => {
        const { headers, info, method } = request
        const started = performance.now()
        const refused = refusal(request)
        const answered =
          refused === null
            ? Effect.catchAllCause(headers.origin === undefined ? app : withCors, (cause) =>
                Cause.isInterruptedOnly(cause) ? Effect.succeed(clientGone) : answerTo(cause, info.id)
              )
            : Effect.succeed(toResponse(refused))
        const handled = Effect.flatMap(answered, (answer) => {
          const response = held(request, answer)
          request.bodyHold?.release()
          info.route ??= routePatternOf(method, request.url)
          const millis = performance.now() - started
          observe?.(method, info.route, response.status, millis)
          log(method, info, response.status, millis)
          const finish = finished(request, response)
          return request.endLargeAnswer === null ? finish : Effect.zipRight(request.endLargeAnswer, finish)
        })
        return tracing === null ? handled : withRequestSpan(info.id, handled)
      })
    }
  })
)
