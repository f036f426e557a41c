import { type HttpApp, HttpServer, HttpServerError, HttpServerRequest } from "@effect/platform"
import { Context, Effect, Runtime, RuntimeFlags } from "effect"
import type { Server } from "node:http"
import { inTurn } from "./InTurn.js"
import { NodeRequest } from "./NodeRequest.js"
import { writeResponse } from "./NodeResponse.js"
import { RequestInfo } from "./RequestInfo.js"

/**
 * Serves an app on Node's server, one fiber a request. The fiber starts with nothing but the request in its context: handlers
 * and middleware have their services from their layers. Requests that arrive while the server closes are served.
 */
const serveOn =
  (server: Server) =>
  (app: HttpApp.Default<unknown>, middleware?: (app: HttpApp.Default<unknown>) => HttpApp.Default<unknown>) =>
    Effect.gen(function* () {
      const { fiberRefs, runtimeFlags } = yield* Effect.runtime()
      // The router makes handlers interruptible, for clients that hang up; what writes the response is not. Requests are
      // counted by the observer, so the toolkit's metrics of fibers are not needed.
      const flags = RuntimeFlags.disableAll(
        runtimeFlags,
        RuntimeFlags.make(RuntimeFlags.Interruption, RuntimeFlags.RuntimeMetrics)
      )
      const served = middleware === undefined ? app : middleware(app)

      server.on(
        "request",
        inTurn((source, response) => {
          const request = new NodeRequest(source)
          const context = Context.make(HttpServerRequest.HttpServerRequest, request).pipe(
            Context.add(RequestInfo, request.info)
          )
          const answered = Effect.scoped(
            Effect.flatMap(served, (answer) => writeResponse(request, response, answer))
          ).pipe(
            // Nobody may be left waiting for a response.
            Effect.catchAllCause((cause) =>
              Effect.zipRight(
                Effect.logError("an answer could not be sent", cause),
                Effect.sync(() => response.destroy())
              )
            )
          )
          const fiber = Runtime.runFork(Runtime.make({ context, fiberRefs, runtimeFlags: flags }))(answered)
          response.on("close", () => {
            request.responseHold?.release()
            // What is held from now on would never be released.
            request.responseHold = null
            if (!response.writableEnded) fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
          })
        })
      )
    })

/** The toolkit's server on a Node server that listens. */
export const httpServerOn = (server: Server, address: HttpServer.Address): HttpServer.HttpServer =>
  HttpServer.make({ address, serve: serveOn(server) })
