import type * as Headers from "@effect/platform/Headers"
import type { Settings } from "../../base/Config.js"
import { reachOf } from "../Browser.js"

type IssuerSettings = Pick<Settings, "mcp" | "publicUrl" | "tls" | "webConsole">

/**
 * The issuer of tokens for agents (RFC 8414, section 2): the server's public address. Without one, only a browser on the same machine
 * can reach it by a name that nobody else chooses. Null: the server asks nobody for consent.
 */
export const issuerOf = (settings: IssuerSettings, headers: Headers.Headers): string | null => {
  const { mcp, publicUrl, tls, webConsole } = settings
  if (!mcp || !webConsole) return null
  if (publicUrl !== null) return publicUrl
  return tls === null && reachOf(settings, headers) === "loopback" ? `http://${headers["host"] ?? ""}` : null
}

/** The resource that tokens are for (RFC 8707): the tool server. */
export const resourceOf = (issuer: string): string => `${issuer}/mcp`

/** Whether a program means the tool server, whose address may have settings in its query. */
export const isResource = (issuer: string, text: string): boolean =>
  text === resourceOf(issuer) || text.startsWith(`${resourceOf(issuer)}?`)

export const resourceMetadataPath = "/.well-known/oauth-protected-resource"
export const serverMetadataPath = "/.well-known/oauth-authorization-server"

export const oauthPaths = { register: "/oauth/register", token: "/oauth/token", revoke: "/oauth/revoke" } as const
/** A page of the console. */
export const authorizePath = "/-/authorize"
