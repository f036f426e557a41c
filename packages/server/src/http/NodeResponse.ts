import type { Headers, HttpServerResponse } from "@effect/platform"
import { Effect, Stream } from "effect"
import type { ServerResponse } from "node:http"
import { hasBody, linger } from "./Body.js"
import type { NodeRequest } from "./NodeRequest.js"

/** Writes a piece of a stream, and waits while the client reads more slowly than the source produces. */
const send = (response: ServerResponse, piece: Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    const next = () => {
      resume(Effect.void)
    }
    if (response.write(piece)) next()
    else response.once("drain", next)
    return Effect.sync(() => response.off("drain", next))
  })

/** The headers of every response and those of this one, in the flat form that Node takes without copying. */
const headersOf = (headers: Headers.Headers, id: string): Array<string> => {
  const list = ["cache-control", "no-store", "x-content-type-options", "nosniff", "x-request-id", id]
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) list.push(name, value)
  }
  return list
}

/** Node sends text in one piece with the headers, and bytes in a second: short bodies are sent as text. */
const shortBody = 16 * 1024

const sendBytes = (response: ServerResponse, bytes: Uint8Array): void => {
  if (bytes.length > shortBody) response.end(bytes)
  else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"), "latin1")
}

/** Writes a response to Node's. */
export const writeResponse = (
  { info, method, source }: NodeRequest,
  response: ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse
): Effect.Effect<void> => {
  if (response.writableEnded) return Effect.void
  if (!source.complete && hasBody(source)) linger(source)
  response.writeHead(status, headersOf(headers, info.id))
  if (method === "HEAD" || body._tag === "Empty") {
    response.end()
    return Effect.void
  }
  switch (body._tag) {
    case "Uint8Array":
      sendBytes(response, body.body)
      return Effect.void
    case "Stream":
      return Stream.runForEach(body.stream, (piece) => send(response, piece)).pipe(
        Effect.interruptible,
        // A client must not take a part for the whole.
        Effect.onError(() => Effect.sync(() => response.destroy())),
        Effect.zipRight(Effect.sync(() => response.end())),
        Effect.catchAllCause((cause) => Effect.logWarning("an answer was cut short", cause))
      )
    default:
      return Effect.dieMessage(`the body of a response is bytes or a stream, not ${body._tag}`)
  }
}
