import { HttpServer, type HttpServerError } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { ServerConfig } from "../Config.js"
import { StartupError } from "../StartupError.js"
import { requestId } from "./RequestInfo.js"

/** How long requests in flight may take once the server is told to stop, in milliseconds. */
const drainMillis = 10_000

const envelope = (message: string): string => JSON.stringify({ error: { code: "VALIDATION_ERROR", message } })

const headersOf = (text: string, incomingId?: string | ReadonlyArray<string>) => ({
  Connection: "close",
  "Content-Type": "application/json",
  "Content-Length": Buffer.byteLength(text),
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Request-Id": requestId(incomingId)
})

/** Writes the envelope to a socket by hand, where Node has made no response, and closes it. */
const refuse = (socket: Duplex, status: number, message: string, incomingId?: string | ReadonlyArray<string>): void => {
  const text = envelope(message)
  const fields = Object.entries(headersOf(text, incomingId)).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, "", text].join("\r\n"))
}

/** What Node's own parser refuses never becomes a request. */
const refuseUnparsed = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return refuse(socket, 431, "the request's headers are larger than 16 KiB")
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return refuse(socket, 408, "the request took too long to arrive")
    default:
      return refuse(socket, 400, "the request is not well-formed HTTP")
  }
}

/** Node hands the bare socket of a CONNECT over, and closes it without an answer when nobody takes it. */
const refuseTunnel = (request: IncomingMessage, socket: Duplex): void => {
  socket.on("error", () => socket.destroy())
  refuse(socket, 400, "this server is no proxy: it does not take CONNECT", request.headers["x-request-id"])
}

const refuseExpectation = (request: IncomingMessage, response: ServerResponse): void => {
  const text = envelope("the Expect header takes only 100-continue")
  response.writeHead(400, headersOf(text, request.headers["x-request-id"])).end(text)
}

/** A target in absolute form is to be accepted (RFC 9112, section 3.2.2): its path is what counts. */
const toOriginForm = (request: IncomingMessage): void => {
  if (request.url?.startsWith("/") === true) return
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(request.url ?? "")?.[1]
  if (path !== undefined) request.url = path.startsWith("/") ? path : `/${path}`
}

/**
 * Closing waits for requests in flight, but not for ever: after the drain their connections are closed. It waits for no
 * connection without a request; Node would, for one that has never had any, or that goes on after its answer.
 */
const boundDrain = (server: Server): Server => {
  /** The last answer that each connection waits for. */
  const connections = new Map<Socket, ServerResponse | null>()
  server.on("connection", (socket) => {
    connections.set(socket, null)
    socket.once("close", () => connections.delete(socket))
  })
  server.on("request", ({ socket }, response) => {
    connections.set(socket, response)
    response.on("close", () => {
      if (connections.get(socket) === response) connections.set(socket, null)
    })
  })
  const close = server.close.bind(server)
  server.close = (callback) => {
    setTimeout(() => {
      server.closeAllConnections()
    }, drainMillis).unref()
    for (const [socket, response] of connections) {
      if (response === null) socket.destroy()
      else response.shouldKeepAlive = false
    }
    return close(callback)
  }
  return server
}

const makeServer = (): Server =>
  boundDrain(
    createServer({ requireHostHeader: false, keepAliveTimeout: 65_000 })
      .on("request", toOriginForm)
      .on("clientError", refuseUnparsed)
      .on("connect", refuseTunnel)
      .on("checkExpectation", refuseExpectation)
  )

/** Says in one sentence why a socket cannot be had. */
export const cannotListen =
  (host: string, port: number) =>
  ({ cause }: HttpServerError.ServeError) =>
    Layer.fail(
      new StartupError({
        message: `${host}:${port} cannot be listened on: ${cause instanceof Error ? cause.message : "unknown reason"}`
      })
    )

/** Node's own server, whose requests are answered. */
export class NodeServer extends Context.Tag("@coffer/server/NodeServer")<NodeServer, Server>() {}

/** The listening socket: what the parser refuses gets the envelope too. */
export const NodeServerLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ host, port }) =>
    Layer.scopedContext(
      Effect.gen(function* () {
        const server = makeServer()
        const listening = yield* NodeHttpServer.make(() => server, { host, port })
        return Context.make(HttpServer.HttpServer, listening).pipe(Context.add(NodeServer, server))
      })
    ).pipe(Layer.catchAll(cannotListen(host, port)), Layer.provideMerge(NodeFileSystem.layer))
  )
)
