import { isVariableName } from "@coffer/client/internal/ServiceFileKeys"
import { isNotForChildren, isOwnCredential } from "@coffer/domain/secrets/DangerousVariables"
import { proxyUser } from "./Forward.js"
import type { StandIns } from "./StandIns.js"
import { bundleVariables } from "./TrustedCertificates.js"

/** A variable that is set to an address of the reverse form. */
export interface BaseUrl {
  readonly variable: string
  /** The host, with the path that the addresses of the program begin with. */
  readonly target: string
}

export interface ProxyVariables {
  readonly set: ReadonlyMap<string, string>
  /** Keys that no variable can be called by, or that make other programs run code. */
  readonly leftOut: ReadonlyArray<string>
}

type Inherited = Readonly<Record<string, string | undefined>>

const nameOf = (host: string): string => host.split(":")[0] ?? host

/** Whether an entry of NO_PROXY keeps requests to a host from the proxy. */
const covers = (entry: string, host: string): boolean => {
  const name =
    entry
      .toLowerCase()
      .split(":")[0]
      ?.replace(/^\*?\./, "") ?? ""
  return entry === "*" || name === host || host.endsWith(`.${name}`)
}

/** The hosts that are reached without the proxy: those of the caller and this machine, but never one that has a rule. */
const noProxy = (inherited: Inherited, hosts: Iterable<string>, onlyRules: boolean): string => {
  const own = (inherited["no_proxy"] ?? inherited["NO_PROXY"] ?? "").split(",").map((entry) => entry.trim())
  const names = [...hosts].map(nameOf)
  return [...(onlyRules ? [] : own), "localhost", "127.0.0.1", "::1"]
    .filter((entry) => entry !== "" && !names.some((name) => covers(entry, name)))
    .join(",")
}

export interface ProxyParts {
  readonly standIns: StandIns
  readonly baseUrls: ReadonlyArray<BaseUrl>
  readonly port: number
  readonly secret: string
  /** The file of the certificates to trust. */
  readonly bundle: string
  readonly hosts: Iterable<string>
  readonly onlyRules: boolean
}

/** The variables of the program: a stand-in for each key, the proxy with its certificates, and the addresses of the reverse form. */
export const proxyVariables = (parts: ProxyParts, inherited: Inherited): ProxyVariables => {
  const { baseUrls, bundle, hosts, onlyRules, port, secret, standIns } = parts
  const set = new Map<string, string>()
  const leftOut: Array<string> = []
  for (const [key, standIn] of standIns) {
    if (isVariableName(key) && !isNotForChildren(key)) set.set(key, standIn)
    else leftOut.push(key)
  }
  const address = `http://${proxyUser}:${secret}@127.0.0.1:${port}`
  const without = noProxy(inherited, hosts, onlyRules)
  for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]) set.set(name, address)
  for (const name of ["NO_PROXY", "no_proxy"]) set.set(name, without)
  for (const name of bundleVariables) set.set(name, bundle)
  // Node before 24 does not read the variables of proxies in `fetch`.
  set.set("NODE_USE_ENV_PROXY", "1")
  // Otherwise git asks once without the credential.
  set.set("GIT_HTTP_PROXY_AUTHMETHOD", "basic")
  for (const { target, variable } of baseUrls) set.set(variable, `http://127.0.0.1:${port}/${secret}/${target}`)
  return { set, leftOut }
}

/** The environment of the command: the inherited variables but the credential of the client, and those of the proxy. */
export const commandEnvironment = (inherited: Inherited, set: ReadonlyMap<string, string>): Record<string, string> => {
  const env = new Map<string, string>()
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !isOwnCredential(name)) env.set(name, value)
  }
  for (const [name, value] of set) env.set(name, value)
  return Object.fromEntries(env)
}
