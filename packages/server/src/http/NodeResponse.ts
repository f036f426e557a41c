import * as Cookies from "@effect/platform/Cookies"
import type * as Headers from "@effect/platform/Headers"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ServerResponse } from "node:http"
import { nextTick } from "../base/EventLoop.js"
import { hasBody, linger } from "./Body.js"
import type { NodeRequest } from "./NodeRequest.js"

/** Writes a chunk of a stream and waits for `drain` if the client is slow (backpressure). */
const send = (response: ServerResponse, piece: Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    const next = () => {
      resume(Effect.void)
    }
    if (response.write(piece)) next()
    else response.once("drain", next)
    return Effect.sync(() => response.off("drain", next))
  })

/** The common headers and those of this response, in the flat form that Node does not copy. */
const headersOf = (headers: Headers.Headers, cookies: Cookies.Cookies, id: string): Array<string> => {
  const list = ["x-content-type-options", "nosniff", "x-request-id", id]
  if (headers["cache-control"] === undefined) list.push("cache-control", "no-store")
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) list.push(name, value)
  }
  if (!Cookies.isEmpty(cookies)) {
    for (const cookie of Cookies.toSetCookieHeaders(cookies)) list.push("set-cookie", cookie)
  }
  return list
}

/** Node writes a string together with the headers, but bytes separately. Bodies up to this size are sent as strings. */
const shortBody = 16 * 1024

/** Larger bodies are written in a tick of their own: copying many of them to sockets would block the event loop. */
const largeBody = 64 * 1024

const sendBytes = (response: ServerResponse, bytes: Uint8Array): void => {
  if (bytes.length > shortBody) response.end(bytes)
  else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"), "latin1")
}

const sent = (response: ServerResponse, bytes: Uint8Array) =>
  Effect.sync(() => {
    sendBytes(response, bytes)
  })

export const writeResponse = (
  { info, method, source }: NodeRequest,
  response: ServerResponse,
  { body, cookies, headers, status }: HttpServerResponse.HttpServerResponse
): Effect.Effect<void> => {
  if (response.writableEnded) return Effect.void
  if (!source.complete && hasBody(source)) linger(source)
  response.writeHead(status, headersOf(headers, cookies, info.id))
  if (method === "HEAD" || body._tag === "Empty") {
    response.end()
    return Effect.void
  }
  switch (body._tag) {
    case "Uint8Array":
      return body.body.length > largeBody
        ? Effect.zipRight(nextTick, sent(response, body.body))
        : sent(response, body.body)
    case "Stream":
      return Stream.runForEach(body.stream, (piece) => send(response, piece)).pipe(
        Effect.interruptible,
        // Close the connection, or the client would take the part for a complete response.
        Effect.onError(() => Effect.sync(() => response.destroy())),
        Effect.zipRight(Effect.sync(() => response.end())),
        Effect.catchAllCause((cause) => Effect.logWarning("a response was cut short", cause))
      )
    default:
      return Effect.dieMessage(`the body of a response is bytes or a stream, not ${body._tag}`)
  }
}
