import { defined } from "@coffer/domain/base/Defined"
import * as Predicate from "effect/Predicate"
import { ServerUnreachable } from "./ClientErrors.js"
import { codeOf } from "./FileError.js"
import { ProxyProblem } from "./ProxyProblem.js"
import { RequestFailed } from "./Send.js"

const messages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  EMSGSIZE: "its response is too long",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name cannot be looked up now",
  ETIMEDOUT: "no response in time",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed; name its authority in NODE_EXTRA_CA_CERTS",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is self-signed; name its authority in NODE_EXTRA_CA_CERTS",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate's authority is not known; name it in NODE_EXTRA_CA_CERTS",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate's authority is not known; name it in NODE_EXTRA_CA_CERTS",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  EPROTO: "it does not speak TLS there; is it http:// and not https://?"
}

const transient = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "EAI_AGAIN"])

/** Returns the system error code, which the clients wrap in `cause` and an attempt at several addresses in `errors`. */
const code = (error: unknown): string => {
  if (Predicate.hasProperty(error, "code") && typeof error.code === "string") return error.code
  if (Predicate.hasProperty(error, "errors") && Array.isArray(error.errors) && error.errors.length > 0) {
    return code(error.errors[0])
  }
  if (Predicate.hasProperty(error, "cause")) return code(error.cause)
  return codeOf(error)
}

const proxyProblemIn = (error: unknown): ProxyProblem | undefined =>
  error instanceof RequestFailed && error.cause instanceof ProxyProblem ? error.cause : undefined

/** Returns a message for people about a failed connection. */
export const reasonOf = (error: unknown): string => {
  const proxy = proxyProblemIn(error)
  if (proxy !== undefined) return proxy.reason
  const name = code(error)
  if (name.startsWith("ERR_SSL_")) return "it does not speak TLS there; is it http:// and not https://?"
  if (name.startsWith("HPE_")) return "its response is not HTTP; check the port"
  return messages[name] ?? `the connection failed (${name})`
}

/** Returns the next step for a problem with a proxy; undefined if there is none. */
const nextAbout = (cause: unknown): string | undefined =>
  proxyProblemIn(cause)?.next ??
  (cause instanceof RequestFailed && cause.ignoredProxy !== undefined
    ? `${cause.ignoredProxy} names a proxy, which Node ${process.version} does not use: Node 22.21, 24.5 or later does`
    : undefined)

/** The error for a connection that failed with this cause. */
export const serverUnreachable = (url: string, cause: unknown): ServerUnreachable =>
  new ServerUnreachable({
    url,
    reason: reasonOf(cause),
    transient: proxyProblemIn(cause)?.transient ?? transient.has(code(cause)),
    answered: cause instanceof RequestFailed && cause.answered,
    ...defined({ next: nextAbout(cause) })
  })

/** The error for a response that took too long. */
export const noResponseWithin = (url: string, seconds: number): ServerUnreachable =>
  new ServerUnreachable({ url, reason: `no response within ${seconds} s`, transient: false, answered: false })
