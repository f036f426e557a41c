import { Authentication } from "@coffer/domain/Actor"
import {
  FileSystem,
  HttpApi,
  HttpApp,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  type HttpServerResponse
} from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Context, Effect, FiberRef, Layer, Option, Runtime, Stream } from "effect"
import type { Server, ServerResponse } from "node:http"
import { Authenticator } from "../auth/Authenticator.js"
import { boundary } from "./Boundary.js"
import { routeOf } from "./Call.js"
import { Calls, type CallServices } from "./Calls.js"
import { toApiError, toResponse } from "./Failure.js"
import { NodeRequest } from "./NodeRequest.js"
import { NodeServer } from "./NodeServer.js"
import { infoOf, RequestInfo } from "./RequestInfo.js"

/** Takes a piece of a long answer, and waits while the client is slower than its source. */
const send = (response: ServerResponse, piece: Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    const next = () => {
      resume(Effect.void)
    }
    if (response.write(piece)) next()
    else response.once("drain", next)
    return Effect.sync(() => response.off("drain", next))
  })

const write = (
  { method }: NodeRequest,
  response: ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse
): Effect.Effect<void> => {
  if (response.writableEnded) return Effect.void
  response.writeHead(status, headers)
  if (method === "HEAD" || body._tag === "Empty") {
    response.end()
    return Effect.void
  }
  switch (body._tag) {
    case "Uint8Array":
      response.end(body.body)
      return Effect.void
    case "Raw":
      if (typeof body.body !== "string") return Effect.dieMessage("an answer's body is text, bytes or a stream")
      response.end(body.body)
      return Effect.void
    case "Stream":
      return Stream.runForEach(body.stream, (piece) => send(response, piece)).pipe(
        Effect.interruptible,
        // Cut short, so that nobody takes it for the whole.
        Effect.onError(() => Effect.sync(() => response.destroy())),
        Effect.zipRight(Effect.sync(() => response.end())),
        Effect.catchAllCause((cause) => Effect.logWarning("an answer was cut short", cause))
      )
    default:
      return Effect.dieMessage(`an answer's body is text, bytes or a stream, not ${body._tag}`)
  }
}

/** What was attached to the answer while it was made, such as an ETag. */
const finished = (answer: HttpServerResponse.HttpServerResponse) =>
  Effect.flatMap(FiberRef.get(HttpApp.currentPreResponseHandlers), (handlers) =>
    Option.isNone(handlers)
      ? Effect.succeed(answer)
      : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => handlers.value(request, answer))
  )

/**
 * Answers a Node server's requests, each in a fiber of its own that starts with all that belongs to the request. It does what
 * the toolkit's own does, in a third of the steps: that one wraps each request in a scope, a span and a layer of context each
 * for the request, the scope and the span. A handler that asks for a scope does not compile.
 */
const serveOn = (server: Server, app: HttpApp.Default<never, CallServices>) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<Exclude<CallServices, HttpServerRequest.HttpServerRequest>>()
    const services = Context.pick(FileSystem.FileSystem, SqlClient.SqlClient, Authentication)(runtime.context)
    const whole = Effect.flatMap(
      Effect.catchAllCause(app, (cause) => Effect.map(toApiError(cause), toResponse)),
      finished
    )
    const onRequest = (source: NodeRequest["source"], response: ServerResponse): void => {
      const request = new NodeRequest(source)
      const context = services.pipe(
        Context.add(HttpServerRequest.HttpServerRequest, request),
        Context.add(RequestInfo, infoOf(request))
      )
      const answered = Effect.uninterruptible(
        Effect.catchAllCause(
          Effect.flatMap(whole, (answer) => write(request, response, answer)),
          // Nobody is left waiting for it.
          (cause) =>
            Effect.zipRight(
              Effect.logError("an answer could not be sent", cause),
              Effect.sync(() => response.destroy())
            )
        )
      )
      const fiber = Runtime.runFork(Runtime.updateContext(runtime, () => context))(answered)
      response.once("close", () => {
        if (!response.writableEnded) fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
      })
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => server.on("request", onRequest)),
      () => Effect.sync(() => server.off("request", onRequest))
    )
  })

/** Every call of the contract as a route. */
const routes = Effect.gen(function* () {
  // It is there when every group of the contract has its handlers.
  const { api } = yield* HttpApi.Api
  const { handlers } = yield* Calls
  const authenticator = yield* Authenticator
  const found: Array<ReturnType<typeof routeOf>> = []
  const untold: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, mergedAnnotations, middleware }) => {
      const handle = handlers.get(endpoint)
      if (handle === undefined) untold.push(endpoint.name)
      else found.push(routeOf(endpoint, middleware, mergedAnnotations, handle, authenticator))
    }
  })
  if (untold.length > 0) return yield* Effect.dieMessage(`handlers are not told to the server: ${untold.join(", ")}`)
  return found
})

/** Serves the contract on the listening socket. */
export const ServeLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const guard = yield* boundary
    const app = yield* HttpRouter.toHttpApp(HttpRouter.fromIterable(yield* routes))
    yield* serveOn(yield* NodeServer, guard(app))
  })
)
