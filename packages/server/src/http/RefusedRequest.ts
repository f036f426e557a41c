import { Forbidden, NotFound, ValidationError } from "@coffer/domain/errors/Errors"
import type { IncomingMessage } from "node:http"
import type { Settings } from "../base/Config.js"
import { sessionCookie } from "./Browser.js"
import { isVaultPath } from "./vault/Target.js"
import { isForeign } from "./mcp/McpOrigins.js"
import type { NodeRequest } from "./NodeRequest.js"

/** Headers that may occur once only. Of several, Node would keep the first or join them. */
const once: ReadonlySet<string> = new Set(["host", "authorization", "x-api-key", "x-vault-token"])

const repeatedHeader = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase()
    if (!once.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** HTTP/1.1 requires one Host header, HTTP/1.0 none (RFC 9112, section 3.2). */
const hasValidHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined ? httpVersion === "1.0" : headers.host !== ""

/** Without it, a client that asks for a wrapping token would pass on the response itself. */
const wrapped = new ValidationError({
  message: "x-vault-wrap-ttl: this view of Vault's API does not wrap responses: send the request without it"
})

const asksForWrapping = ({ headers, url }: NodeRequest): boolean => {
  const ttl = headers["x-vault-wrap-ttl"]
  return ttl !== undefined && !/^0*s?$/.test(ttl) && isVaultPath(url)
}

const foreign = new Forbidden({
  message: "the origin of this web page may not call the tool server: its operator can add it to SERVICE_MCP_ORIGINS"
})

/** Returns the error of a request that must not be routed, or null. */
export const refusal = (request: NodeRequest, settings: Settings): Forbidden | NotFound | ValidationError | null => {
  const twice = repeatedHeader(request.source)
  if (twice !== undefined && twice !== "host") {
    return new ValidationError({ message: `duplicate ${twice} header: send one credential` })
  }
  if (twice === "host" || !hasValidHost(request.source)) {
    return new ValidationError({ message: "the Host header is missing, or there are several" })
  }
  if (settings.mcp && isForeign(request, settings)) return foreign
  const { headers } = request
  const hasOther = headers.authorization !== undefined || headers["x-api-key"] !== undefined
  if (hasOther && sessionCookie(settings, headers) !== null) {
    return new ValidationError({
      message: "the request has a session cookie and another credential: send one credential"
    })
  }
  if (settings.vaultApi && asksForWrapping(request)) return wrapped
  const path = request.url.split("?", 1)[0] ?? ""
  // The router cuts a path at `;` or `#`, accepts an empty segment as a parameter, and takes `*` for the root.
  return /^[^/]|[;#]|\/\/|.\/$/.test(path)
    ? new NotFound({ message: "no such path: /openapi.json lists them all" })
    : null
}
