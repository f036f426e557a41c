import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"

/** The proxy of a connection, and the variable that names it. The address may hold a password: only the host is shown. */
export interface UsedProxy {
  readonly url: URL
  readonly variable: string
}

export const showProxy = ({ url, variable }: UsedProxy): string => `${url.host} (${variable})`

/** A proxy did not let a request through, so the server has not seen it. Contains no password. */
export class ProxyProblem extends Data.TaggedError("ProxyProblem")<{
  readonly reason: string
  /** The next step for a person. */
  readonly next: string
  /** Whether a retry is likely to succeed. */
  readonly transient: boolean
}> {}

/** Through a proxy, the only connection is that to the proxy: failures to connect are its own. */
const connecting: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ENOTFOUND: "has a host name that is not known",
  EAI_AGAIN: "has a host name that cannot be looked up now",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "cannot be reached",
  ETIMEDOUT: "did not respond in time"
}

const retried = new Set(["ECONNREFUSED", "EAI_AGAIN"])

const around = (target: URL) => `NO_PROXY=${target.hostname} goes around the proxy`

/** The problem that a status stands for: that of a tunnel, or 407, which no server of the service sends. */
export const refusedByProxy = (proxy: UsedProxy, target: URL, status: number): ProxyProblem => {
  const { url, variable } = proxy
  const who = `the proxy ${showProxy(proxy)}`
  const host = target.host
  if (status === 407) {
    return url.username === ""
      ? new ProxyProblem({
          reason: `${who} asks for a name and a password (407)`,
          next: `put them into ${variable}, as in ${url.protocol}//NAME:PASSWORD@${url.host}`,
          transient: false
        })
      : new ProxyProblem({
          reason: `${who} does not take the name and the password in ${variable} (407)`,
          next: `correct them; what is not a letter or a digit is percent-encoded`,
          transient: false
        })
  }
  if (status >= 500) {
    return new ProxyProblem({
      reason: `the proxy ${showProxy(proxy)} does not reach ${host} (${status})`,
      next: `see whether the server runs, and whether the proxy can reach it; ${around(target)}`,
      transient: status === 502 || status === 503 || status === 504
    })
  }
  return new ProxyProblem({
    reason: `${who} does not let you reach ${host} (${status})`,
    next: `ask the operator of the proxy to allow ${host}; ${around(target)}`,
    transient: false
  })
}

/**
 * The problem of a proxy that made a request fail; undefined if something behind it did.
 *
 * @param target the address of the request
 * @param cause what Node failed with
 */
export const proxyProblemOf = (proxy: UsedProxy, target: URL, cause: unknown): ProxyProblem | undefined => {
  const code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
  if (typeof code !== "string") return undefined
  const failed = (what: string, transient = false) =>
    new ProxyProblem({
      reason: `the proxy ${showProxy(proxy)} ${what}`,
      next: `see whether the proxy runs, and check ${proxy.variable}; ${around(target)}`,
      transient
    })
  if (code === "ERR_PROXY_TUNNEL") {
    const status = Predicate.hasProperty(cause, "statusCode") ? Number(cause.statusCode) : undefined
    if (status === undefined) return failed("ended the connection, or did not respond in time", true)
    return Number.isNaN(status) ? failed("does not speak HTTP") : refusedByProxy(proxy, target, status)
  }
  if (code.startsWith("HPE_")) return failed("does not speak HTTP")
  const what = connecting[code]
  return what === undefined ? undefined : failed(what, retried.has(code))
}
