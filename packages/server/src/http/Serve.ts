import { Authentication, CurrentActor } from "@coffer/domain/Actor"
import { Requires } from "@coffer/domain/api/Requirement"
import {
  FileSystem,
  type Headers,
  HttpApi,
  HttpServerError,
  HttpServerRequest,
  type HttpServerResponse
} from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Context, Effect, Either, Layer, Option, Runtime, RuntimeFlags, Stream } from "effect"
import type { Server, ServerResponse } from "node:http"
import { Access } from "../access/Access.js"
import { entry } from "../access/Entry.js"
import { Authenticator } from "../auth/Authenticator.js"
import { hasBody, linger } from "./Body.js"
import { boundary } from "./Boundary.js"
import { type Call, callOf } from "./Call.js"
import { Calls, type CallServices } from "./Calls.js"
import { inTurn } from "./InTurn.js"
import { NodeRequest } from "./NodeRequest.js"
import { NodeServer } from "./NodeServer.js"
import { refusal } from "./Refusal.js"
import { infoOf, RequestInfo, type RequestInfoShape } from "./RequestInfo.js"
import { failing, type Routed, routing } from "./Route.js"

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

/** What every answer bears and what this one does, as the list that Node takes as it is. */
const headersOf = (headers: Headers.Headers, id: string): Array<string> => {
  const list = ["cache-control", "no-store", "x-content-type-options", "nosniff", "x-request-id", id]
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) list.push(name, value)
  }
  return list
}

const write = (
  { method, source }: NodeRequest,
  { id }: RequestInfoShape,
  response: ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse
): Effect.Effect<void> => {
  if (response.writableEnded) return Effect.void
  if (!source.complete && hasBody(source)) linger(source)
  response.writeHead(status, headersOf(headers, id))
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
      // What is ASCII alone is the same in Latin-1, and sent sooner.
      response.end(body.body, body.contentLength === body.body.length ? "latin1" : "utf8")
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

/**
 * Answers a Node server's requests, each in a fiber of its own that starts with all that belongs to the request. It does what
 * the toolkit's own does, in a tenth of the steps: that one wraps each request in a scope, a span and a layer of context each
 * for the request, its route, the scope and the span. A handler that asks for a scope does not compile.
 */
const serveOn = (server: Server, route: ReturnType<typeof routing>, guard: Effect.Effect.Success<typeof boundary>) =>
  Effect.gen(function* () {
    const { context, fiberRefs, runtimeFlags } =
      yield* Effect.runtime<Exclude<CallServices, HttpServerRequest.HttpServerRequest>>()
    const services = Context.pick(FileSystem.FileSystem, SqlClient.SqlClient, Authentication)(context)
    // What answers is not interrupted; what a call does may be, when its client hangs up.
    const flags = RuntimeFlags.disableAll(
      runtimeFlags,
      // Requests are counted by the observer, and nobody asks for the toolkit's own numbers of fibers.
      RuntimeFlags.make(RuntimeFlags.Interruption, RuntimeFlags.RuntimeMetrics)
    )

    const onRequest = (source: NodeRequest["source"], response: ServerResponse): void => {
      const request = new NodeRequest(source)
      const info = infoOf(request)
      const refused = refusal(request)
      const { answer, caller } =
        refused === null
          ? Either.getOrElse(
              Either.try(() => route(request, info)),
              (defect): Routed => ({ caller: null, answer: Effect.die(defect) })
            )
          : failing(refused)
      const started = new Map<string, unknown>(services.unsafeMap)
      started.set(HttpServerRequest.HttpServerRequest.key, request)
      started.set(RequestInfo.key, info)
      if (caller?.actor) started.set(CurrentActor.key, caller.actor)
      const runtime = Runtime.make<CallServices>({
        context: Context.unsafeMake(started),
        fiberRefs,
        runtimeFlags: flags
      })
      const answered = Effect.catchAllCause(
        Effect.flatMap(guard(request, info, refused, Effect.interruptible(answer)), (finished) =>
          write(request, info, response, finished)
        ),
        // Nobody is left waiting for it.
        (cause) =>
          Effect.zipRight(
            Effect.logError("an answer could not be sent", cause),
            Effect.sync(() => response.destroy())
          )
      )
      const fiber = Runtime.runFork(runtime)(answered)
      response.on("close", () => {
        caller?.answer.release()
        if (!response.writableEnded) fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
      })
    }
    // It goes on serving what arrives while the server closes.
    server.on("request", inTurn(onRequest))
  })

/** Every call of the contract, with its handler. */
const calls = Effect.gen(function* () {
  // It is there when every group of the contract has its handlers.
  const { api } = yield* HttpApi.Api
  const { handlers } = yield* Calls
  const access = yield* Access
  const found: Array<Call> = []
  const untold: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, mergedAnnotations, middleware }) => {
      const handle = handlers.get(endpoint)
      const requires = Option.getOrElse(Context.getOption(mergedAnnotations, Requires), () => "superadmin" as const)
      // A refusal is recorded by the handler's word for the action: `backup.drill` of the group `backups`.
      const check = entry(access, requires, `${group.identifier.replace(/s$/, "")}.${endpoint.name}`)
      if (handle === undefined) untold.push(endpoint.name)
      else found.push(callOf(endpoint, middleware, mergedAnnotations, check, handle))
    }
  })
  if (untold.length > 0) return yield* Effect.dieMessage(`handlers are not told to the server: ${untold.join(", ")}`)
  return found
})

/** Serves the contract on the listening socket. */
export const ServeLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { identify } = yield* Authenticator
    yield* serveOn(yield* NodeServer, routing(yield* calls, identify), yield* boundary)
  })
)
