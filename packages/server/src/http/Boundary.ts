import type { NotFound, ValidationError } from "@coffer/domain/Errors"
import { HttpApp, HttpMiddleware, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Fiber, Option } from "effect"
import { ServerConfig } from "../Config.js"
import { AccessLog } from "./AccessLog.js"
import { answerTo, toResponse } from "./Failure.js"
import type { NodeRequest } from "./NodeRequest.js"
import type { RequestInfoShape } from "./RequestInfo.js"
import { RequestObserver } from "./RequestObserver.js"
import { withRequestSpan } from "./RequestSpan.js"
import { routePatternOf } from "./Routes.js"

/** For the access log alone: the client hung up, and its request ended with it. */
const clientGone = HttpServerResponse.empty({ status: 499 })

type App<R> = HttpApp.Default<unknown, R>

const corsFor = (allowedOrigins: ReadonlyArray<string>) => {
  if (allowedOrigins.length === 0) return <R>(_request: NodeRequest, app: App<R>): App<R> => app
  const cors = HttpMiddleware.cors({
    allowedOrigins,
    allowedMethods: ["GET", "PUT", "PATCH", "POST", "DELETE"],
    allowedHeaders: ["Authorization", "X-API-Key", "Content-Type", "If-Match", "If-None-Match", "X-Request-Id"],
    exposedHeaders: ["ETag", "Retry-After", "X-Request-Id"],
    maxAge: 600
  })
  return <R>({ headers }: NodeRequest, app: App<R>): App<R> => (headers.origin === undefined ? app : cors(app))
}

/** What was attached to an answer while it was made, such as an ETag. */
const finished = (request: NodeRequest, id: string, answer: HttpServerResponse.HttpServerResponse) => {
  const handlers = Option.flatMap(Fiber.getCurrentFiber(), (fiber) =>
    fiber.getFiberRef(HttpApp.currentPreResponseHandlers)
  )
  return Option.isNone(handlers)
    ? Effect.succeed(answer)
    : Effect.catchAllCause(handlers.value(request, answer), (cause) => answerTo(cause, id))
}

/**
 * The edge of the server: everything that a request can end with becomes an answer here, and every request gets one line in
 * the access log.
 */
export const boundary = Effect.gen(function* () {
  const { corsAllowedOrigins, tracing } = yield* ServerConfig
  const withCors = corsFor(corsAllowedOrigins)
  const observe = yield* RequestObserver
  const log = yield* AccessLog
  return <R>(request: NodeRequest, info: RequestInfoShape, refused: NotFound | ValidationError | null, app: App<R>) => {
    const started = performance.now()
    const safe =
      refused === null
        ? Effect.catchAllCause(withCors(request, app), (cause) =>
            Cause.isInterruptedOnly(cause) ? Effect.succeed(clientGone) : answerTo(cause, info.id)
          )
        : Effect.succeed(toResponse(refused))
    const handled = Effect.flatMap(safe, (answer) => {
      info.route ??= routePatternOf(request.method, request.url)
      const millis = performance.now() - started
      observe?.(request.method, info.route, answer.status, millis)
      log(request.method, info, answer.status, millis)
      return finished(request, info.id, answer)
    })
    return tracing === null ? handled : withRequestSpan(info.id, handled)
  }
})
