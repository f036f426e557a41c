import type * as Runtime from "effect/Runtime"
import { runFork } from "effect/Runtime"
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"
import type { Authority } from "./Authority.js"
import { hostOf } from "./Outgoing.js"
import { answered, isOwn, isSame, notYours, type ProxyOptions, send } from "./Answering.js"
import { refusal } from "./Passed.js"

export interface ForwardOptions extends ProxyOptions {
  readonly authority: Authority
  /** The hosts of the rules at the start, as rules name them. */
  readonly hosts: ReadonlySet<string>
  readonly onlyRules: boolean
}

/** The user's name in the address of the proxy. */
export const proxyUser = "coffer"

const isAuthorized = ({ headers }: IncomingMessage, secret: string): boolean => {
  const [, encoded = ""] = /^basic\s+(\S+)$/i.exec(headers["proxy-authorization"] ?? "") ?? []
  return isSame(Buffer.from(encoded, "base64").toString("latin1"), `${proxyUser}:${secret}`)
}

const withChallenge = { ...notYours, headers: { ...notYours.headers, "proxy-authenticate": 'Basic realm="coffer"' } }

const notAllowed = (host: string) =>
  refusal(403, "USE_REFUSED", `host ${host} is in no use rule, and --only-rules lets requests to no other host pass`)

/** Ends a tunnel that is not opened, with the response to its request. */
const refuseTunnel = (socket: Duplex, { body, headers, status }: ReturnType<typeof refusal>): void => {
  const lines = Object.entries({ ...headers, "content-length": String(body.length), connection: "close" })
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${Buffer.from(body).toString()}`
  )
}

const opened = "HTTP/1.1 200 Connection Established\r\n\r\n"

const passThrough = (socket: Duplex, head: Buffer, host: string, port: number): void => {
  const other = connect({ host, port, allowHalfOpen: true })
  other.once("connect", () => {
    socket.write(opened)
    if (head.length > 0) other.write(head)
    other.pipe(socket)
    socket.pipe(other)
  })
  other.once("error", () => {
    if (other.connecting || other.bytesRead === 0) {
      refuseTunnel(socket, refusal(502, "PROXY_FAILED", `no connection to ${host}:${port}`))
    } else socket.destroy()
  })
  socket.once("error", () => other.destroy())
  socket.once("close", () => other.destroy())
}

/** Headers of one connection (RFC 9110, 7.6.1), and the credential of this proxy. */
const ofConnection = new Set(["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "upgrade"])

const passPlain = (request: IncomingMessage, response: ServerResponse, url: string): void => {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !ofConnection.has(name)))
  const other = requestHttp(url, { method: request.method ?? "GET", headers }, (arrived) => {
    response.writeHead(arrived.statusCode ?? 502, arrived.headers)
    arrived.pipe(response)
  })
  other.once("error", () => send(response, refusal(502, "PROXY_FAILED", `no connection to ${new URL(url).host}`)))
  request.pipe(other)
  response.once("close", () => other.destroy())
}

/** Answers the requests of a tunnel, whose host it has proved to be with a certificate of this run. */
const tunnels = (options: ForwardOptions, runtime: Runtime.Runtime<never>) => {
  const authorities = new WeakMap<Socket, string>()
  const inner = createServer({ requestTimeout: 0 })
  inner.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const authority = authorities.get(request.socket)
    const named = request.headers.host?.toLowerCase()
    const url = `https://${authority ?? ""}${request.url ?? "/"}`
    if (
      authority === undefined ||
      !URL.canParse(url) ||
      named === undefined ||
      new URL(url).host !== new URL(`https://${named}`).host
    ) {
      return send(response, refusal(421, "VALIDATION_ERROR", "the host header names another host than the tunnel"))
    }
    const fiber = runFork(runtime)(answered(options, request, response, url))
    response.once("close", () => {
      if (!response.writableEnded) fiber.unsafeInterruptAsFork(fiber.id())
    })
  })
  return (socket: Duplex, head: Buffer, host: string, authority: string): void => {
    socket.write(opened)
    if (head.length > 0) socket.unshift(head)
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext: options.authority.contextFor(host),
      ALPNProtocols: ["http/1.1"]
    })
    authorities.set(secure, authority)
    secure.on("error", () => secure.destroy())
    inner.emit("connection", secure)
  }
}

/** The listeners of a proxy: requests to a host with a rule are made by the server, others pass through untouched. */
export const forward = (options: ForwardOptions, secret: string, runtime: Runtime.Runtime<never>) => {
  const { hosts, onlyRules } = options
  const answer = tunnels(options, runtime)
  return {
    connect: (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      socket.on("error", () => socket.destroy())
      if (!isOwn(request.socket) || !isAuthorized(request, secret)) return refuseTunnel(socket, withChallenge)
      const [, host = "", text = ""] = /^(\[[^\]]+\]|[^:]+):([0-9]{1,5})$/.exec((request.url ?? "").toLowerCase()) ?? []
      const port = Number(text)
      if (host === "" || port < 1 || port > 65_535) {
        return refuseTunnel(socket, refusal(400, "VALIDATION_ERROR", "a tunnel goes to HOST:PORT"))
      }
      const named = port === 443 ? host : `${host}:${port}`
      if (hosts.has(named)) return answer(socket, head, host, named)
      if (onlyRules) return refuseTunnel(socket, notAllowed(named))
      passThrough(socket, head, host.replace(/^\[|\]$/g, ""), port)
    },
    /** A request that names its whole address, as only those to a proxy do. */
    request: (request: IncomingMessage, response: ServerResponse, url: string): void => {
      if (!isAuthorized(request, secret)) return send(response, withChallenge)
      if (!URL.canParse(url) || !url.toLowerCase().startsWith("http://")) {
        return send(
          response,
          refusal(400, "VALIDATION_ERROR", "a proxy takes http addresses, and tunnels for the others")
        )
      }
      const host = hostOf(url)
      if (hosts.has(host)) {
        runFork(runtime)(answered(options, request, response, url))
        return
      }
      if (onlyRules) return send(response, notAllowed(host))
      passPlain(request, response, url)
    }
  }
}
