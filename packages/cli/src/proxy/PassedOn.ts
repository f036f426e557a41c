import type { BadProxy } from "@coffer/client/internal/Proxy"
import type * as Either from "effect/Either"
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type RequestOptions,
  type ServerResponse
} from "node:http"
import { request as requestHttps } from "node:https"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { send } from "./Answering.js"
import { refusal } from "./Passed.js"

/** The proxy that requests to an address pass, by the variables that this command inherited: such as that of a company. */
export type ProxyOf = (url: URL) => Either.Either<URL | undefined, BadProxy>

/** Ends a tunnel that is not opened, with the response to its request. */
export const refuseTunnel = (socket: Duplex, { body, headers, status }: ReturnType<typeof refusal>): void => {
  const lines = Object.entries({ ...headers, "content-length": String(body.length), connection: "close" })
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${Buffer.from(body).toString()}`
  )
}

export const opened = "HTTP/1.1 200 Connection Established\r\n\r\n"

const failed = (message: string) => refusal(502, "PROXY_FAILED", message)

const joined = (socket: Duplex, other: Socket, head: Buffer): void => {
  socket.write(opened)
  if (head.length > 0) other.write(head)
  other.pipe(socket)
  socket.pipe(other)
  other.once("error", () => socket.destroy())
  socket.once("error", () => other.destroy())
  socket.once("close", () => other.destroy())
}

interface ProxiedRequest extends RequestOptions {
  readonly headers: IncomingHttpHeaders
}

const viaProxy = (proxy: URL, { headers, ...request }: ProxiedRequest): ClientRequest => {
  const credential = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const isSecure = proxy.protocol === "https:"
  return (isSecure ? requestHttps : requestHttp)({
    ...request,
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port === "" ? (isSecure ? 443 : 80) : proxy.port,
    agent: false,
    headers: {
      ...headers,
      ...(credential !== ":" && { "proxy-authorization": `Basic ${Buffer.from(credential).toString("base64")}` })
    }
  })
}

const tunnel = (socket: Duplex, head: Buffer, authority: string, proxy: URL): void => {
  const asked = viaProxy(proxy, { method: "CONNECT", path: authority, headers: { host: authority } })
  asked.once("connect", ({ statusCode = 502 }, other: Socket, early: Buffer) => {
    if (statusCode !== 200) {
      other.destroy()
      return refuseTunnel(socket, failed(`the proxy ${proxy.host} refuses a tunnel to ${authority}: ${statusCode}`))
    }
    if (early.length > 0) other.unshift(early)
    joined(socket, other, head)
  })
  asked.once("error", () => refuseTunnel(socket, failed(`no connection to the proxy ${proxy.host}`)))
  socket.once("close", () => asked.destroy())
  asked.end()
}

/** Opens a tunnel to another host, which sees the program itself. */
export const passTunnel = (socket: Duplex, head: Buffer, authority: string, proxyOf: ProxyOf): void => {
  const url = new URL(`https://${authority}`)
  const proxy = proxyOf(url)
  if (proxy._tag === "Left") return refuseTunnel(socket, failed(proxy.left.message))
  if (proxy.right !== undefined) return tunnel(socket, head, authority, proxy.right)
  const port = Number(url.port === "" ? 443 : url.port)
  const other = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port, allowHalfOpen: true })
  const refuse = () => refuseTunnel(socket, failed(`no connection to ${authority}`))
  const give = () => other.destroy()
  other.once("error", refuse)
  socket.once("close", give)
  other.once("connect", () => {
    other.off("error", refuse)
    socket.off("close", give)
    joined(socket, other, head)
  })
}

/** Headers of one connection (RFC 9110, 7.6.1), and the credential of this proxy. */
const ofConnection = new Set(["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "upgrade"])

/** Passes a plain request on to another host. */
export const passPlain = (request: IncomingMessage, response: ServerResponse, url: string, proxyOf: ProxyOf): void => {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !ofConnection.has(name)))
  const method = request.method ?? "GET"
  const proxy = proxyOf(new URL(url))
  if (proxy._tag === "Left") return send(response, failed(proxy.left.message))
  const other =
    proxy.right === undefined
      ? requestHttp(url, { method, headers })
      : viaProxy(proxy.right, { method, path: url, headers })
  other.once("response", (arrived) => {
    response.writeHead(arrived.statusCode ?? 502, arrived.headers)
    arrived.pipe(response)
  })
  other.once("error", () => send(response, failed(`no connection to ${new URL(url).host}`)))
  request.pipe(other)
  response.once("close", () => other.destroy())
}
