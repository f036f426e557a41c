import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createTlsServer, type Server as TlsServer } from "node:https"
import { type Server as NetServer, Socket } from "node:net"
import type { SecureContextOptions } from "node:tls"
import type { Duplex } from "node:stream"
import { ServerConfig } from "../base/Config.js"
import { blockListOf } from "../base/config/Networks.js"
import type { TlsSettings } from "../base/config/TlsSettings.js"
import { codeOf, reasonOf } from "../base/Reason.js"
import { StartupError } from "../base/StartupError.js"
import { bodyFails } from "./Body.js"
import { readCertificate } from "./Certificate.js"
import { type Handed, HandedConnections } from "./Handed.js"
import { cutIfSlow } from "./LargeResponses.js"
import { InProcess } from "./InProcess.js"
import { answerList, connectionEvent, isAnswered, OneRequest } from "./ListMethod.js"
import { httpServerOn } from "./NodeHttpServer.js"
import { renewCertificate } from "./Renewal.js"
import { requestId } from "./RequestFacts.js"

/** How long the shutdown waits for requests in flight, in milliseconds. */
const drainMillis = 10_000

/** How long the shutdown serves connections that say that they close: longer than a round trip, in milliseconds. */
const farewellMillis = 300

const envelope = (message: string): string => JSON.stringify({ error: { code: "VALIDATION_ERROR", message } })

const headersOf = (text: string, incomingId?: string | ReadonlyArray<string>) => ({
  Connection: "close",
  "Content-Type": "application/json",
  "Content-Length": Buffer.byteLength(text),
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Request-Id": requestId(incomingId)
})

/** Writes an error response to a socket for which Node has made no response object, and closes the socket. */
const refuse = (socket: Duplex, status: number, message: string, incomingId?: string | ReadonlyArray<string>): void => {
  const text = envelope(message)
  const fields = Object.entries(headersOf(text, incomingId)).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, "", text].join("\r\n"))
}

const isLate = ({ code }: NodeJS.ErrnoException): boolean => code === "ERR_HTTP_REQUEST_TIMEOUT"

/** Refuses a request by the error of Node's parser. */
const refuseFor = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (isLate(error)) refuse(socket, 408, "the request took too long to arrive")
  else if (error.code === "HPE_HEADER_OVERFLOW") refuse(socket, 431, "the request headers exceed the limit of 16 KiB")
  else refuse(socket, 400, "the request is not well-formed HTTP")
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Connection {
  /** Requests whose responses were not fully sent yet, oldest first. */
  readonly open: Array<Exchange>
  /** The newest request. */
  last: IncomingMessage | null
  /** How many bytes had been read when the last response was sent: the connection is idle if no more have arrived. */
  idleAt: number
}

type Connections = ReadonlyMap<Socket, Connection>

/**
 * Responds to a request that Node's parser rejects, because it is malformed or late. If the error is in a body, the reader of the
 * body responds. If a response is being sent, it is completed, and then the connection is closed.
 */
const refuseUnparsed =
  (server: Server, connections: Connections) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (!(socket instanceof Socket)) {
      refuseFor(error, socket)
      return
    }
    if (isAnswered(socket)) return
    const connection = connections.get(socket)
    // There is no connection while TLS is negotiated, and nothing could be read of a response.
    const isIdle = connection === undefined || socket.bytesRead === connection.idleAt
    if (error.code === "ECONNRESET" || !socket.writable || isIdle) {
      socket.destroy()
      return
    }
    const [first, ...others] = connection.open
    if (first !== undefined) {
      const { request, response } = first
      response.shouldKeepAlive = false
      if (others.length > 0 || request.complete) response.once("close", () => socket.destroy())
      else bodyFails(request, isLate(error) ? "late" : "gone")
      return
    }
    // The error is in the rest of a body whose request was already answered.
    if (connection.last?.complete === false) {
      socket.destroy()
      return
    }
    if (answerList(server, error, socket)) return
    refuseFor(error, socket)
  }

/** Without a listener for `connect`, Node closes the connection without a response. */
const refuseTunnel = (request: IncomingMessage, socket: Duplex): void => {
  socket.on("error", () => socket.destroy())
  refuse(socket, 400, "this server is no proxy: it does not take CONNECT", request.headers["x-request-id"])
}

const refuseExpectation = (request: IncomingMessage, response: ServerResponse): void => {
  const text = envelope("the Expect header takes only 100-continue")
  response.writeHead(400, headersOf(text, request.headers["x-request-id"])).end(text)
}

/** Servers must accept the absolute form of a target (RFC 9112, section 3.2.2). Reduces it to its path. */
const toOriginForm = (request: IncomingMessage): void => {
  if (request.url?.startsWith("/") === true) return
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(request.url ?? "")?.[1]
  if (path !== undefined) request.url = path.startsWith("/") ? path : `/${path}`
}

/** Sends 100 Continue only when the body is read, so that a refused request does not upload its body. */
const continueWhenRead =
  (server: Server) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue()
    })
    server.emit("request", request, response)
  }

/**
 * Tracks the connections of a server. Closes a connection whose client reads nothing of its response for a while, or reads it too
 * slowly.
 */
const trackConnections = (server: Server, timeouts: Timeouts): Connections => {
  const connections = new Map<Socket, Connection>()
  server.on(connectionEvent(server), (socket: Socket) => {
    connections.set(socket, { open: [], last: null, idleAt: 0 })
    socket.once("close", () => connections.delete(socket))
  })
  server.on("request", (request, response) => {
    const { socket } = request
    if (socket instanceof OneRequest) response.shouldKeepAlive = false
    const connection = connections.get(socket)
    if (connection === undefined) return
    const exchange = { request, response }
    connection.open.push(exchange)
    connection.last = request
    response.once("prefinish", () => {
      if (socket.writableLength === 0) return
      // Node restores its own timeout once the response was sent. Slow progress does not count as silence.
      socket.setTimeout(timeouts.silence)
      cutIfSlow(response, socket.writableLength, timeouts)
    })
    response.once("close", () => {
      connection.open.splice(connection.open.indexOf(exchange), 1)
      connection.idleAt = socket.bytesRead
    })
  })
  return connections
}

/** After this many event-loop ticks without a new connection, all pending connections have been accepted. */
const quietTicks = 5

/** Calls `done` after some event-loop ticks without a new connection, or after `millis` at the latest. */
export const whenQuiet = (server: Pick<NetServer, "on" | "off">, millis: number, done: () => void): void => {
  const deadline = performance.now() + millis
  let left = quietTicks
  const onConnection = () => {
    left = quietTicks
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
 * Changes `close` to a graceful shutdown: for a moment, all connections are served with `Connection: close`. Then pending
 * connections are accepted, requests in flight are answered, and idle connections are closed. After the drain time the remaining
 * connections are closed.
 */
const closeGracefully = (server: Server, connections: Connections): void => {
  let closing = false
  // With TLS, Node's server does not know the connections that are still negotiated.
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.on("request", (_request, response) => {
    if (closing) response.shouldKeepAlive = false
  })
  server.closeIdleConnections = () => {
    for (const [socket, { open, idleAt }] of connections) {
      if (open.length === 0 && socket.bytesRead === idleAt) socket.destroy()
    }
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  const whenAllClosed = (done: () => void): void => {
    const [socket] = sockets
    if (socket === undefined) done()
    else {
      socket.once("close", () => {
        whenAllClosed(done)
      })
    }
  }
  const listenerClose = server.close.bind(server)
  const close = (callback?: (error?: Error) => void): void => {
    if (server.listening) {
      listenerClose(callback)
      return
    }
    // Node does not count the connections of a server that does not listen itself.
    listenerClose()
    whenAllClosed(() => callback?.())
  }
  server.close = (callback) => {
    closing = true
    setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, drainMillis).unref()
    const end = () => {
      for (const { open } of connections.values()) {
        const last = open.at(-1)
        if (last !== undefined) last.response.shouldKeepAlive = false
      }
      close(callback)
    }
    const farewell = sockets.size === 0 ? 0 : farewellMillis
    setTimeout(() => {
      whenQuiet(server, drainMillis / 10, end)
    }, farewell)
    return server
  }
}

/** Timeouts for clients, in milliseconds. */
export interface Timeouts {
  /** From the first byte of a request to its last. */
  readonly arrival: number
  /** Without progress while a response is being sent. */
  readonly silence: number
  /** The mean rate at which a client must read a response after that time, in bytes a millisecond. */
  readonly rate?: number
}

const defaultTimeouts: Timeouts = { arrival: 30_000, silence: 30_000 }

const optionsOf = ({ arrival }: Timeouts) => ({
  requireHostHeader: false,
  keepAliveTimeout: 65_000,
  headersTimeout: arrival,
  requestTimeout: arrival,
  connectionsCheckingInterval: Math.min(1_000, arrival)
})

const prepared = <S extends Server>(server: S, timeouts: Timeouts): S => {
  const connections = trackConnections(server, timeouts)
  closeGracefully(server, connections)
  return server
    .on("request", toOriginForm)
    .on("checkContinue", continueWhenRead(server))
    .on("clientError", refuseUnparsed(server, connections))
    .on("connect", refuseTunnel)
    .on("checkExpectation", refuseExpectation)
}

/** Node's server with error responses, timeouts and a graceful shutdown. */
export const makeServer = (timeouts = defaultTimeouts): Server => prepared(createServer(optionsOf(timeouts)), timeouts)

/** The same with TLS. Browsers that have seen it use no plain HTTP for its host afterwards. */
export const makeTlsServer = (options: SecureContextOptions, timeouts = defaultTimeouts): TlsServer =>
  prepared(
    createTlsServer({ ...optionsOf(timeouts), ...options, handshakeTimeout: timeouts.arrival }),
    timeouts
  ).prependListener("request", (_request, response) => {
    response.setHeader("Strict-Transport-Security", "max-age=31536000")
  })

export const cannotListen =
  (host: string, port: number) =>
  ({ cause }: HttpServerError.ServeError) =>
    new StartupError({
      message: `cannot listen on ${host}:${port}: ${reasonOf(cause)}${codeOf(cause) === "EADDRINUSE" ? ". Another program uses the port: end it, or set SERVICE_PORT to another port" : ""}`
    })

/** Reads the certificate at the start. */
export const firstCertificate = (tls: TlsSettings) =>
  Effect.mapError(readCertificate(tls), ({ message }) => new StartupError({ message }))

/** A server whose certificate is renewed until the scope is closed. */
const renewedServer = (tls: TlsSettings) =>
  Effect.gen(function* () {
    const pair = yield* firstCertificate(tls)
    const server = makeTlsServer(pair.options)
    yield* renewCertificate(tls, pair, ({ options }) => server.setSecureContext(options))
    return server
  })

const handedServer = ({ certificate, onCertificate }: Handed, minVersion: TlsSettings["minVersion"]): Server => {
  if (certificate === null) return makeServer()
  const server = makeTlsServer({ ...certificate, minVersion })
  onCertificate((pair) => {
    server.setSecureContext({ ...pair, minVersion })
  })
  return server
}

/** Serves the connections that another process accepts, until the scope is closed. */
export const serveHanded = (server: Server, { onConnection }: Pick<Handed, "onConnection">) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      // Node then checks the timeouts of connections.
      server.emit("listening")
      onConnection((socket) => {
        // As of sockets that Node's server accepts.
        socket.allowHalfOpen = true
        server.emit("connection", socket)
      })
    }),
    () =>
      Effect.async<void>((resume) => {
        server.close(() => {
          resume(Effect.void)
        })
      })
  )

/** The address that a server listens on. The toolkit gives 0.0.0.0 in the place of ::. */
const boundTo = (server: Server, address: HttpServer.Address): HttpServer.Address => {
  const bound = server.address()
  return address._tag === "TcpAddress" && typeof bound === "object" && bound !== null
    ? { ...address, hostname: bound.address }
    : address
}

export const NodeHttpServerLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ host, port, tls, trustedProxies }) =>
    Layer.scoped(
      HttpServer.HttpServer,
      Effect.gen(function* () {
        const proxies = trustedProxies === null ? null : blockListOf(trustedProxies)
        const handed = yield* HandedConnections
        const inProcess = yield* InProcess
        if (handed !== null) {
          const server = handedServer(handed, tls?.minVersion ?? "TLSv1.3")
          yield* serveHanded(server, handed)
          return httpServerOn(server, { _tag: "TcpAddress", hostname: host, port }, proxies, inProcess)
        }
        const server: Server = tls === null ? makeServer() : yield* renewedServer(tls)
        const { address } = yield* Effect.mapError(
          NodeHttpServer.make(() => server, { host, port }),
          cannotListen(host, port)
        )
        return httpServerOn(server, boundTo(server, address), proxies, inProcess)
      })
    )
  )
)
