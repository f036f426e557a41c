import type { HttpRequest, HttpResponse } from "@coffer/client/internal/Send"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { IncomingMessage } from "node:http"
import type { NodeRequest } from "./NodeRequest.js"

/** A request of the server to itself, in the course of a request from outside. */
export interface OwnRequest extends HttpRequest {
  /** How the program that the outer request comes from names itself. */
  readonly program: string | undefined
}

/** Serves such a request as one from outside: by the same router, with the same checks, limits and entries. */
export type ServeOwn = (outer: NodeRequest, request: OwnRequest) => Effect.Effect<HttpResponse>

interface Slot {
  serve: ServeOwn
}

/** The server's way to itself. It opens when the server serves. */
export class InProcess extends Context.Tag("@coffer/server/InProcess")<InProcess, Slot>() {}

export const InProcessLive = Layer.sync(InProcess, () => ({
  serve: () => Effect.dieMessage("the server does not serve yet")
}))

/** The headers of the outer request that say where it comes from and by whose credential. */
const kept = ["host", "x-real-ip", "x-forwarded-for", "user-agent"] as const

/** Node's form of a request that never was on a socket of its own: it has the address of the outer one. */
export const ownSource = (outer: NodeRequest, { body, headers, method, url }: HttpRequest): IncomingMessage => {
  const source = new IncomingMessage(outer.source.socket)
  source.method = method
  source.url = url.pathname + url.search
  source.httpVersion = "1.1"
  source.headers = {
    ...Object.fromEntries(
      kept.flatMap((name) => (outer.headers[name] === undefined ? [] : [[name, outer.headers[name]]]))
    ),
    ...headers,
    "x-request-id": outer.info.id,
    "x-coffer-client": "mcp",
    ...(body !== undefined && { "content-length": String(body.length) })
  }
  source.complete = true
  if (body !== undefined) source.push(body)
  source.push(null)
  return source
}

/** The response as a client of the contract reads it. */
export const ownResponse = ({
  body,
  headers,
  status
}: HttpServerResponse.HttpServerResponse): Effect.Effect<HttpResponse> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed({ status, headers, body: new Uint8Array() })
    case "Uint8Array":
      return Effect.succeed({ status, headers, body: body.body })
    case "Stream":
      return Effect.map(Effect.orDie(Stream.runCollect(body.stream)), (chunks) => ({
        status,
        headers,
        body: Buffer.concat([...chunks])
      }))
    default:
      return Effect.dieMessage(`the body of a response is bytes or a stream, not ${body._tag}`)
  }
}
