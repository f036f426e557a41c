import type { Settings } from "../../base/Config.js"
import { hostOf, isLoopback } from "../../base/config/Loopback.js"
import type { NodeRequest } from "../NodeRequest.js"

/** Whether a request is for the tool server. */
export const isMcpPath = (url: string): boolean => /^\/mcp(?:\?|$)/.test(url)

/** Whether a request is for the tool server, or for the endpoints by which a host of agents gets a token for it. */
export const isAgentPath = (url: string): boolean =>
  isMcpPath(url) || url.startsWith("/oauth/") || url.startsWith("/.well-known/oauth-")

/** Whether an origin is the server's own. Without a public address, only names of this machine tell (DNS rebinding). */
const isOwn = (origin: string, { publicUrl }: Settings, host: string | undefined): boolean => {
  if (publicUrl !== null) return origin === publicUrl
  return URL.canParse(origin) && new URL(origin).host === host && isLoopback(hostOf(new URL(origin)))
}

/** Whether a web page of a foreign origin sent a request to the tool server. */
export const isForeign = ({ headers, url }: NodeRequest, settings: Settings): boolean => {
  const { host, origin } = headers
  return (
    origin !== undefined && isMcpPath(url) && !settings.mcpOrigins.includes(origin) && !isOwn(origin, settings, host)
  )
}
