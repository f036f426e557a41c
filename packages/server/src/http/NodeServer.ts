import { HttpRouter } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { ServerConfig } from "../Config.js"
import { StartupError } from "../StartupError.js"

/** How long requests in flight may take once the server is told to stop, in milliseconds. */
const drainMillis = 10_000

const envelope = (message: string): string => JSON.stringify({ error: { code: "VALIDATION_ERROR", message } })

/** What Node's own parser refuses never becomes a request: the envelope is written to the socket by hand. */
const refuseUnparsed = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [431, "the request's headers are larger than 16 KiB"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "the request took too long to arrive"]
        : [400, "the request is not well-formed HTTP"]
  const text = envelope(message)
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Connection: close",
      "Content-Type: application/json",
      "Cache-Control: no-store",
      "X-Content-Type-Options: nosniff",
      `X-Request-Id: ${crypto.randomUUID()}`,
      `Content-Length: ${Buffer.byteLength(text)}`,
      "",
      text
    ].join("\r\n")
  )
}

const refuseExpectation = (_request: IncomingMessage, response: ServerResponse): void => {
  response
    .writeHead(400, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": crypto.randomUUID()
    })
    .end(envelope("the Expect header takes only 100-continue"))
}

/** Closing waits for requests in flight, but not for ever: after the drain their connections are closed. */
const boundDrain = (server: Server): Server => {
  const close = server.close.bind(server)
  server.close = (callback) => {
    setTimeout(() => {
      server.closeAllConnections()
    }, drainMillis).unref()
    return close(callback)
  }
  return server
}

const makeServer = (): Server =>
  boundDrain(
    createServer({ requireHostHeader: false, keepAliveTimeout: 65_000 })
      .on("clientError", refuseUnparsed)
      .on("checkExpectation", refuseExpectation)
  )

/** The listening socket: names are matched to the letter, and what the parser refuses gets the envelope too. */
export const NodeServerLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ host, port }) =>
    NodeHttpServer.layer(makeServer, { host, port }).pipe(
      Layer.catchAll(({ cause }) =>
        Layer.fail(
          new StartupError({
            message: `${host}:${port} cannot be listened on: ${cause instanceof Error ? cause.message : "unknown reason"}`
          })
        )
      )
    )
  )
)

export const RouterConfigLive = HttpRouter.setRouterConfig({
  maxParamLength: 1000,
  caseSensitive: true,
  ignoreTrailingSlash: false
})
