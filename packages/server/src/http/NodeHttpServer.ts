import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scope from "effect/Scope"
import { type Server, ServerResponse } from "node:http"
import type { BlockList } from "node:net"
import { type InProcess, ownResponse, ownSource } from "./InProcess.js"
import { CurrentResponse, makeLargeResponses } from "./LargeResponses.js"
import { NodeRequest } from "./NodeRequest.js"
import { writeResponse } from "./NodeResponse.js"
import { withoutOverlap } from "./Pipelining.js"
import { makeTurns } from "./Turns.js"
import { RequestInfo } from "../base/RequestInfo.js"
import { Tenant } from "../base/Tenant.js"

/**
 * Runs the app of a fiber in a scope, which releases what the app held before the client reads the response. The fiber is
 * uninterruptible and ends with the app, so this takes a third of the steps of `Effect.scoped`.
 */
const inScope = <A, E, R>(app: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Scope.make(), (scope) =>
    Effect.zipRight(
      FiberRef.update(FiberRef.currentContext, Context.add(Scope.Scope, scope)),
      Effect.flatMap(Effect.exit(app), (exit) => Effect.zipRight(Scope.close(scope, exit), exit))
    )
  )

/** The context of a request. Handlers and middleware have their services from their layers. */
type OfRequest = CurrentResponse | HttpServerRequest.HttpServerRequest | RequestInfo | Tenant

/**
 * Serves an app on Node's server with one fiber for each request. The fiber's context has the request only: handlers and
 * middleware get their services from their layers. Requests that arrive during the shutdown are served.
 */
const serveOn =
  (server: Server, proxies: BlockList | null, inProcess?: InProcess["Type"]) =>
  (app: HttpApp.Default<unknown>, middleware?: (app: HttpApp.Default<unknown>) => HttpApp.Default<unknown>) =>
    Effect.gen(function* () {
      const { fiberRefs, runtimeFlags } = yield* Effect.runtime()
      // Only handlers are interruptible (by the router), for clients that close the connection; writing the response is not.
      // The toolkit's fiber metrics are disabled, because the observer counts requests.
      const flags = RuntimeFlags.disableAll(
        runtimeFlags,
        RuntimeFlags.make(RuntimeFlags.Interruption, RuntimeFlags.RuntimeMetrics)
      )
      const memoryOf = makeLargeResponses()
      const inTurn = makeTurns()
      const served = middleware === undefined ? app : middleware(app)

      /** Runs a request in a fiber of its own. */
      const fork = <A, E>(request: NodeRequest, effect: Effect.Effect<A, E, OfRequest>) => {
        const context = Context.make(HttpServerRequest.HttpServerRequest, request).pipe(
          Context.add(RequestInfo, request.info),
          Context.add(Tenant, request.tenant),
          Context.add(CurrentResponse, request.memory)
        )
        return Runtime.runFork(Runtime.make({ context, fiberRefs, runtimeFlags: flags }))(effect)
      }
      const responses = new WeakMap<NodeRequest, ServerResponse>()

      if (inProcess !== undefined) {
        inProcess.serve = (outer, { program, ...own }) =>
          Effect.async((resume) => {
            const source = ownSource(outer, own)
            // Its memory is released with that of the outer response, which may contain it.
            const response = new ServerResponse(source)
            responses.get(outer)?.once("close", () => response.emit("close"))
            const request = new NodeRequest(source, (tenant) => memoryOf(response, tenant), proxies)
            request.info.program = program
            const fiber = fork(request, Effect.flatMap(inScope(served), ownResponse))
            fiber.addObserver((exit) => {
              resume(Effect.orDie(exit))
            })
            // A change that has begun is finished.
            return Effect.async<void>((ended) => {
              fiber.addObserver(() => {
                ended(Effect.void)
              })
              fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
            })
          })
      }

      server.on(
        "request",
        withoutOverlap((source, response) => {
          const request = new NodeRequest(source, (tenant) => memoryOf(response, tenant), proxies)
          responses.set(request, response)
          const answered = Effect.flatMap(inScope(served), (answer) => writeResponse(request, response, answer)).pipe(
            // Close the connection; the client would wait for ever otherwise.
            Effect.catchAllCause((cause) =>
              Effect.zipRight(
                Effect.logError("a response could not be sent", cause),
                Effect.sync(() => response.destroy())
              )
            )
          )
          const { info, tenant } = request
          inTurn({
            source,
            network: tenant.name,
            begin: (name) => {
              if (response.destroyed) return
              tenant.name = name
              const fiber = fork(request, answered)
              response.on("close", () => {
                if (!response.writableEnded) fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
              })
            },
            onEnd: (learn) =>
              response.once("close", () => {
                if (info.actor !== null) learn(tenant.name)
              })
          })
        })
      )
    })

/**
 * The toolkit's server on a listening Node server. `proxies` are the peers whose headers say who the client is; null: all.
 * `inProcess` gets the server's way to itself.
 */
export const httpServerOn = (
  server: Server,
  address: HttpServer.Address,
  proxies: BlockList | null = null,
  inProcess?: InProcess["Type"]
): HttpServer.HttpServer => HttpServer.make({ address, serve: serveOn(server, proxies, inProcess) })
