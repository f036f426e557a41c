import type * as Headers from "@effect/platform/Headers"
import type { Settings } from "../base/Config.js"
import { hostOf, isLoopback } from "../base/config/Loopback.js"

/**
 * How a browser reaches the server. Cookies are set only over https, and on loopback, where not every browser accepts `Secure`
 * over http.
 */
export type Reach = "https" | "loopback" | "plain"

type ReachSettings = Pick<Settings, "publicUrl" | "tls">
type BrowserSettings = ReachSettings & Pick<Settings, "corsAllowedOrigins">

/** A proxy that does not pass the Host header on would make every client look local, but it sets one of these. */
const isProxied = (headers: Headers.Headers): boolean =>
  headers["x-real-ip"] !== undefined || headers["x-forwarded-for"] !== undefined

export const reachOf = ({ publicUrl, tls }: ReachSettings, headers: Headers.Headers): Reach => {
  if (tls !== null) return "https"
  if (publicUrl !== null) return publicUrl.startsWith("https:") ? "https" : "loopback"
  const address = `http://${headers["host"] ?? ""}`
  return !isProxied(headers) && URL.canParse(address) && isLoopback(hostOf(new URL(address))) ? "loopback" : "plain"
}

/** The prefix `__Host-` makes browsers refuse a cookie that another host or an unencrypted response sets. */
export const cookieName = (name: string, reach: Reach): string => (reach === "https" ? `__Host-${name}` : name)

/** The value of a cookie, or null if there is none. Several of one name are not the server's own. */
export const cookieOf = (headers: Headers.Headers, name: string): string | null => {
  const values = (headers["cookie"] ?? "").split(";").flatMap((pair) => {
    const text = pair.trim()
    return text.startsWith(`${name}=`) ? [text.slice(name.length + 1)] : []
  })
  return values.length === 1 ? (values[0] ?? null) : null
}

export const sessionCookieName = (reach: Reach): string => cookieName("coffer", reach)

/**
 * Whether a request comes from the server's own pages. Browsers do not let a page set `Sec-Fetch-Site` or `Origin`. An origin
 * that CORS lets in has its own credentials.
 */
const isOwnPages = ({ corsAllowedOrigins, publicUrl }: BrowserSettings, headers: Headers.Headers): boolean => {
  const { origin } = headers
  const isOwnOrigin = origin !== undefined && origin === publicUrl
  if (origin !== undefined && !isOwnOrigin && corsAllowedOrigins.includes(origin)) return false
  const site = headers["sec-fetch-site"]
  return site === undefined ? isOwnOrigin : site === "same-origin"
}

/**
 * The token of a browser's session, or null if there is none or if it does not count. `X-Coffer` proves a script of our own: a
 * form cannot send it, and CORS does not allow it.
 */
export const sessionCookie = (settings: BrowserSettings, headers: Headers.Headers): string | null =>
  headers["cookie"] !== undefined && headers["x-coffer"] === "1" && isOwnPages(settings, headers)
    ? cookieOf(headers, sessionCookieName(reachOf(settings, headers)))
    : null
