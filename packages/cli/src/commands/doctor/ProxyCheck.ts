import { obeysProxy, proxyFor, proxyVariable } from "@coffer/client/internal/Proxy"
import { showProxy, type UsedProxy } from "@coffer/client/internal/ProxyProblem"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Failure } from "../../base/Failures.js"
import { type Finding, ok, problem, warning } from "./Finding.js"

const check = "proxy"

/** The proxy that requests to the server go through; undefined if there is none. */
export const usedProxy = (server: ServerUrl): Effect.Effect<UsedProxy | undefined> =>
  Effect.map(Variables, (variables) => {
    const variable = proxyVariable(server, variables)
    const url = Either.getOrUndefined(proxyFor(server, variables))
    return variable === undefined || url === undefined || !obeysProxy(process.versions) ? undefined : { url, variable }
  })

/** Returns the error of a request's proxy, if that is why the request failed. */
export const proxyFailure = (failure: Failure): string | undefined => {
  if (failure._tag === "UnexpectedResponse") return failure.proxy === undefined ? undefined : failure.message
  if (failure._tag !== "ServerUnreachable" || failure.next === undefined) return undefined
  return `${failure.reason}; ${failure.next}`
}

/**
 * Which proxy is used, and whether the request for the server's health came through it.
 *
 * @param refusal what the proxy did wrong with that request
 */
export const checkProxy = (server: ServerUrl, refusal: string | undefined) =>
  Effect.map(Variables, (variables): Finding => {
    const name = proxyVariable(server, variables)
    if (name === undefined) return ok(check, "not set")
    if (server.local) return ok(check, `${name} is not used for a server on this machine`)
    return Either.match(proxyFor(server, variables), {
      onLeft: ({ message, variable }) => problem(check, `${message}; correct ${variable}, or unset it`),
      onRight: (url) => {
        if (url === undefined) return ok(check, `${name} is not used for this server, as NO_PROXY says`)
        if (!obeysProxy(process.versions)) {
          return warning(
            check,
            `${name} is set, but Node ${process.version} does not use it; Node 22.21, 24.5 or later does`
          )
        }
        const shown = showProxy({ url, variable: name })
        return refusal === undefined
          ? ok(check, `${shown} lets requests to ${new URL(server.base).host} through`)
          : problem(check, refusal)
      }
    })
  })
