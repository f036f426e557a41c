import { isPlainUrl } from "@coffer/domain/base/PlainUrl"

const longest = 512

/** Schemes that a browser runs or shows by itself, or that lead to another program than the one that asked. */
const taken: ReadonlySet<string> = new Set([
  ...["about", "blob", "chrome", "chrome-extension", "data", "edge", "file", "filesystem", "ftp", "intent", "jar"],
  ...["javascript", "mailto", "moz-extension", "resource", "sms", "tel", "vbscript", "view-source", "ws", "wss"]
])

const loopbacks: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"])

const schemeOf = (uri: string): string => /^([a-z][a-z0-9+.-]*):/.exec(uri)?.[1] ?? ""

/** Whether an answer at the address stays on the computer of the browser: a loopback address, or a program's own scheme (RFC 8252). */
export const isLocalRedirect = (uri: string): boolean => schemeOf(uri) !== "https"

/**
 * Whether a program may have answers brought to an address: https, http to the loopback interface (RFC 8252, section 7.3), or a scheme
 * of its own (section 7.1). None has a fragment (RFC 6749, section 3.1.2).
 */
export const isRedirectUri = (uri: string): boolean => {
  if (uri.length > longest || !/^[!-~]+$/.test(uri) || /[#\\"<>`]/.test(uri) || !URL.canParse(uri)) return false
  const scheme = schemeOf(uri)
  if (scheme === "https") return isPlainUrl(uri)
  if (scheme === "http") return isPlainUrl(uri) && loopbacks.has(new URL(uri).hostname)
  const { password, username } = new URL(uri)
  return (
    scheme !== "" && !taken.has(scheme) && /^[^:]+:\/\/?[A-Za-z0-9]/.test(uri) && username === "" && password === ""
  )
}

/** An address of the loopback interface without its port, which a program chooses when it starts; others as they are. */
const withoutPort = (uri: string): string => {
  if (schemeOf(uri) !== "http") return uri
  const { hostname, pathname, search } = new URL(uri)
  return `http://${hostname}${pathname}${search}`
}

/** Whether an address is one of a program's: by its exact text, but for the port of the loopback interface (RFC 8252, section 7.3). */
export const matchesRedirect = (registered: ReadonlyArray<string>, uri: string): boolean =>
  isRedirectUri(uri) && registered.some((own) => own === uri || withoutPort(own) === withoutPort(uri))

/** The address with the parameters of an answer. A query of its own stays (RFC 6749, section 3.1.2). */
export const answerAt = (uri: string, parameters: Readonly<Record<string, string>>): string =>
  `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams(parameters).toString()}`

/** The scheme and the host of an address, as a person reads them. */
export const placeOfRedirect = (uri: string): string => {
  const { host, protocol } = new URL(uri)
  return host === "" ? protocol : `${protocol}//${host}`
}
