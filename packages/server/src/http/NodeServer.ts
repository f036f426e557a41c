import { HttpServer, type HttpServerError } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { ServerConfig } from "../Config.js"
import { StartupError } from "../StartupError.js"
import { httpServerOn } from "./NodeHttpServer.js"
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

/** A request, and the answer that it gets. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Connection {
  /** Those whose answers have not left yet, oldest first. */
  readonly open: Array<Exchange>
  /** The request that came last. */
  last: IncomingMessage | null
  /** How many bytes had come when the last answer was sent. */
  restsAt: number
}

type Connections = ReadonlyMap<Socket, Connection>

/**
 * Says why a request is not one: it is malformed, or did not arrive in time. What Node's own parser refuses never becomes a
 * request; where it is the body, whoever reads the body answers. An answer that is under way is not written into: it is sent,
 * and then the connection is closed.
 */
const refuseUnparsed =
  (connections: Connections) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (!(socket instanceof Socket)) return
    const connection = connections.get(socket)
    const nothingCame = socket.bytesRead === (connection?.restsAt ?? 0)
    if (error.code === "ECONNRESET" || !socket.writable || nothingCame) {
      socket.destroy()
      return
    }
    const late = error.code === "ERR_HTTP_REQUEST_TIMEOUT"
    const [first, ...others] = connection?.open ?? []
    if (first !== undefined) {
      const { request, response } = first
      response.shouldKeepAlive = false
      if (others.length > 0 || request.complete) response.once("close", () => socket.destroy())
      else if (request.listenerCount("timeout") > 0) request.emit(late ? "timeout" : "error", error)
      else socket.destroy()
      return
    }
    // The rest of a body whose request was answered before it came.
    if (connection?.last?.complete === false) {
      socket.destroy()
      return
    }
    if (late) refuse(socket, 408, "the request took too long to arrive")
    else if (error.code === "HPE_HEADER_OVERFLOW") refuse(socket, 431, "the request's headers are larger than 16 KiB")
    else refuse(socket, 400, "the request is not well-formed HTTP")
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

/** Asks a client that waits for 100 Continue for its body when that is wanted: when whoever serves the call reads it. */
const continueWhenRead =
  (server: Server) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue()
    })
    server.emit("request", request, response)
  }

/** Keeps account of the connections of a server. A client that takes nothing of its answer for a while is cut off. */
const watch = (server: Server, silenceMillis: number): Connections => {
  const connections = new Map<Socket, Connection>()
  server.on("connection", (socket) => {
    connections.set(socket, { open: [], last: null, restsAt: 0 })
    socket.once("close", () => connections.delete(socket))
  })
  server.on("request", (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) return
    const exchange = { request, response }
    connection.open.push(exchange)
    connection.last = request
    response.once("prefinish", () => {
      // Node sets its own time again when the answer has left. A write that goes on slowly does not count as silence.
      if (socket.writableLength > 0) socket.setTimeout(silenceMillis)
    })
    response.once("close", () => {
      connection.open.splice(connection.open.indexOf(exchange), 1)
      connection.restsAt = socket.bytesRead
    })
  })
  return connections
}

/** How many turns of the event loop without a new connection mean that the system has handed all of them over. */
const quietTurns = 5

/** Goes on after some turns of the event loop in which no connection came, at the latest after a time. */
const whenQuiet = (server: Server, millis: number, done: () => void): void => {
  const deadline = performance.now() + millis
  let left = quietTurns
  const onConnection = () => {
    left = quietTurns
  }
  const next = () => {
    left -= 1
    if (left > 0 && performance.now() < deadline) {
      setImmediate(next)
      return
    }
    server.off("connection", onConnection)
    done()
  }
  server.on("connection", onConnection)
  setImmediate(next)
}

/**
 * Closing answers what has arrived: connections that the system took are accepted and read first, requests in flight are
 * waited for, but not for ever: after the drain their connections are closed. It waits for no connection that rests.
 */
const boundDrain = (server: Server, connections: Connections): void => {
  let closing = false
  server.on("request", (_request, response) => {
    if (closing) response.shouldKeepAlive = false
  })
  server.closeIdleConnections = () => {
    for (const [socket, { open, restsAt }] of connections) {
      if (open.length === 0 && socket.bytesRead === restsAt) socket.destroy()
    }
  }
  const close = server.close.bind(server)
  server.close = (callback) => {
    closing = true
    setTimeout(() => {
      server.closeAllConnections()
    }, drainMillis).unref()
    whenQuiet(server, drainMillis / 10, () => {
      for (const { open } of connections.values()) {
        const last = open.at(-1)
        if (last !== undefined) last.response.shouldKeepAlive = false
      }
      close(callback)
    })
    return server
  }
}

/** The times that a client has, in milliseconds. */
export interface Patience {
  /** For a request to arrive whole, from its first byte on. */
  readonly arrival: number
  /** For taking something of an answer that waits for it. */
  readonly silence: number
}

/** Node's server with the refusals, the limits and the end that this one's requests need. */
export const makeServer = ({ arrival, silence }: Patience = { arrival: 30_000, silence: 30_000 }): Server => {
  const server = createServer({
    requireHostHeader: false,
    keepAliveTimeout: 65_000,
    headersTimeout: arrival,
    requestTimeout: arrival,
    connectionsCheckingInterval: Math.min(1_000, arrival)
  })
  const connections = watch(server, silence)
  boundDrain(server, connections)
  return server
    .on("request", toOriginForm)
    .on("checkContinue", continueWhenRead(server))
    .on("clientError", refuseUnparsed(connections))
    .on("connect", refuseTunnel)
    .on("checkExpectation", refuseExpectation)
}

/** Says in one sentence why a socket cannot be had. */
export const cannotListen =
  (host: string, port: number) =>
  ({ cause }: HttpServerError.ServeError) =>
    Layer.fail(
      new StartupError({
        message: `${host}:${port} cannot be listened on: ${cause instanceof Error ? cause.message : "unknown reason"}`
      })
    )

/** The listening socket: what the parser refuses gets the envelope too. */
export const NodeHttpServerLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ host, port }) =>
    Layer.scoped(
      HttpServer.HttpServer,
      Effect.gen(function* () {
        const server = makeServer()
        const { address } = yield* NodeHttpServer.make(() => server, { host, port })
        return httpServerOn(server, address)
      })
    ).pipe(Layer.catchAll(cannotListen(host, port)))
  )
)
