import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type { Agent } from "node:http"
import { obeysProxy, proxyFor } from "./Proxy.js"
import { Held, type HttpRequest, type HttpResponse, RequestFailed, type Send } from "./Send.js"
import type { ServerUrl } from "./ServerUrl.js"
import { Variables } from "./Variables.js"

/** Milliseconds. A connection that takes longer will not come about. */
const connectTimeout = 10_000

/** Milliseconds. Less than servers and proxies keep an idle connection, so that none is closed under a request. */
const idleTimeout = 2_000

/** Bytes. No response of the service is longer: an environment has at most 2,000 secrets of 64 KiB. */
const longest = 2 ** 28

/** Avoids an import, which reads every export of the module and so loads all of `fetch` on newer versions of Node. */
const moduleOf = ({ secure }: ServerUrl) => process.getBuiltinModule(secure ? "node:https" : "node:http")

const send = (
  server: ServerUrl,
  agent: Agent,
  isHeld: boolean,
  { body, headers, maxBytes, method, url }: HttpRequest
) =>
  Effect.async<HttpResponse, RequestFailed>((resume) => {
    let answered = false
    const fail = (cause: unknown) => resume(Effect.fail(new RequestFailed({ cause, answered })))
    const giveUp = (code: string) => {
      fail({ code })
      request.destroy()
    }
    const request = moduleOf(server).request(url, { agent, method, headers }, (response) => {
      answered = true
      const chunks: Array<Buffer> = []
      let left = maxBytes ?? longest
      const end = () =>
        resume(
          Effect.succeed({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks)
          })
        )
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        if ((left -= chunk.length) >= 0) return
        if (maxBytes !== undefined) end()
        giveUp("EMSGSIZE")
      })
      response.once("error", fail)
      response.once("end", end)
    })
    const timer = setTimeout(giveUp, connectTimeout, "ETIMEDOUT")
    const connected = () => clearTimeout(timer)
    if (!isHeld) timer.unref()
    request.once("socket", (socket) => {
      // The agent holds it again for the next request.
      if (!isHeld) socket.unref()
      if (socket.connecting) socket.once("connect", connected)
      else connected()
    })
    request.once("close", connected)
    request.on("error", fail)
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/**
 * Connects to one server over `node:http` or `node:https`, which load much faster than `fetch`. All programs send their
 * requests through it. Connections are reused, and closed with the scope.
 *
 * Where Node has the option (22.21, 24.5), HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply, except for a server on this machine. They
 * are read here, because Node reads NO_PROXY in its own way.
 */
export const makeSend = Effect.fnUntraced(function* (server: ServerUrl): Effect.fn.Return<Send, never, Scope.Scope> {
  const proxy = obeysProxy(process.versions) ? proxyFor(server, yield* Variables) : Either.right(undefined)
  if (Either.isLeft(proxy)) return () => Effect.fail(new RequestFailed({ cause: proxy.left, answered: false }))
  const href = proxy.right?.href
  const proxyEnv = href === undefined ? {} : { HTTP_PROXY: href, HTTPS_PROXY: href }
  const options = { keepAlive: true, timeout: idleTimeout, proxyEnv }
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new (moduleOf(server).Agent)(options)),
    (agent) => Effect.sync(() => agent.destroy())
  )
  return (request) => Effect.flatMap(Held, (isHeld) => send(server, agent, isHeld, request))
})
