import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type { Agent } from "node:http"
import { obeysProxy, proxyFor, proxyVariable } from "./Proxy.js"
import { ProxyProblem, proxyProblemOf, refusedByProxy, showProxy, type UsedProxy } from "./ProxyProblem.js"
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
  isProxied: boolean,
  isHeld: boolean,
  { body, headers, maxBytes, method, take, url }: HttpRequest
) =>
  Effect.async<HttpResponse, RequestFailed>((resume) => {
    let answered = false
    const fail = (cause: unknown) => resume(Effect.fail(new RequestFailed({ cause, answered })))
    const giveUp = (code: string) => {
      fail({ code })
      request.destroy()
    }
    // Without it, a proxy has the agent's few seconds to open a tunnel.
    const timeout = isProxied ? { timeout: connectTimeout } : {}
    const request = moduleOf(server).request(url, { agent, method, headers, ...timeout }, (response) => {
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
      response.once("error", fail)
      response.once("end", end)
      if (take?.(response) === true) return
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        if ((left -= chunk.length) >= 0) return
        if (maxBytes !== undefined) end()
        giveUp("EMSGSIZE")
      })
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

const proxyAuthenticationRequired = 407

/** Tells the failures of a proxy from those of what is behind it. Without a tunnel, a proxy answers in the place of the server. */
const throughProxy =
  (proxy: UsedProxy, { secure }: ServerUrl, send: Send): Send =>
  (request) =>
    send(request).pipe(
      Effect.mapError((failed) => {
        const problem = proxyProblemOf(proxy, request.url, failed.cause)
        return problem === undefined ? failed : new RequestFailed({ cause: problem, answered: false })
      }),
      Effect.flatMap((response): Effect.Effect<HttpResponse, RequestFailed> =>
        secure
          ? Effect.succeed(response)
          : response.status === proxyAuthenticationRequired
            ? new RequestFailed({ cause: refusedByProxy(proxy, request.url, response.status), answered: false })
            : Effect.succeed({ ...response, proxy: showProxy(proxy) })
      )
    )

/** Says that this version of Node uses no proxy, where the direct connection fails. */
const withoutProxy =
  (variable: string, send: Send): Send =>
  (request) =>
    Effect.mapError(send(request), (failed) =>
      failed.answered ? failed : new RequestFailed({ cause: failed.cause, answered: false, ignoredProxy: variable })
    )

/**
 * Connects to one server over `node:http` or `node:https`, which load much faster than `fetch`. All programs send their
 * requests through it. Connections are reused, and closed with the scope.
 *
 * Where Node has the option (22.21, 24.5), HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply, except for a server on this machine. They
 * are read here, because Node reads NO_PROXY in its own way.
 */
export const makeSend = Effect.fnUntraced(function* (server: ServerUrl): Effect.fn.Return<Send, never, Scope.Scope> {
  const variables = yield* Variables
  const variable = proxyVariable(server, variables)
  const found = proxyFor(server, variables)
  const isObeyed = obeysProxy(process.versions)
  if (isObeyed && Either.isLeft(found)) {
    const { left } = found
    const next = `correct ${left.variable}, or unset it`
    const problem = new ProxyProblem({ reason: left.message, next, transient: false })
    return () => Effect.fail(new RequestFailed({ cause: problem, answered: false }))
  }
  const url = Either.getOrUndefined(found)
  const isProxied = isObeyed && url !== undefined
  const proxyEnv = isProxied ? { HTTP_PROXY: url.href, HTTPS_PROXY: url.href } : {}
  const options = { keepAlive: true, timeout: idleTimeout, proxyEnv }
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new (moduleOf(server).Agent)(options)),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const direct: Send = (request) => Effect.flatMap(Held, (isHeld) => send(server, agent, isProxied, isHeld, request))
  if (url === undefined || variable === undefined) return direct
  return isObeyed ? throughProxy({ url, variable }, server, direct) : withoutProxy(variable, direct)
})
