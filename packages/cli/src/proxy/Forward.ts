import type * as Runtime from "effect/Runtime"
import { runFork } from "effect/Runtime"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"
import type { Authority } from "./Authority.js"
import { hostOf } from "./Outgoing.js"
import { answered, isOwn, isSame, notYours, type ProxyOptions, send } from "./Answering.js"
import { refusal } from "./Passed.js"
import { opened, passPlain, passTunnel, type ProxyOf, refuseTunnel } from "./PassedOn.js"

export interface ForwardOptions extends ProxyOptions {
  readonly authority: Authority
  /** The hosts of the rules at the start, as rules name them. */
  readonly hosts: ReadonlySet<string>
  readonly onlyRules: boolean
  readonly proxyOf: ProxyOf
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
  const { hosts, onlyRules, proxyOf } = options
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
      if (!URL.canParse(`https://${host}:${port}`)) {
        return refuseTunnel(socket, refusal(400, "VALIDATION_ERROR", "a tunnel goes to HOST:PORT"))
      }
      passTunnel(socket, head, `${host}:${port}`, proxyOf)
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
      passPlain(request, response, url, proxyOf)
    }
  }
}
