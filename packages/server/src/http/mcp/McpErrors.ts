import { oauthScopes } from "@coffer/domain/directory/Consent"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Settings } from "../../base/Config.js"
import { type ErrorForm, toResponse } from "../Failure.js"
import type { NodeRequest } from "../NodeRequest.js"
import { issuerOf, resourceMetadataPath } from "./Issuer.js"

/** The scope that a host may ask for at the address, which the person narrows: without what its settings exclude. */
const scopeAt = (url: string): string => {
  const settings = new URL(url, "http://localhost").searchParams
  const excluded = [
    ...(settings.get("read_only") === "1" ? ["write"] : []),
    ...(settings.get("reveal") === "0" ? ["reveal"] : [])
  ]
  return oauthScopes.filter((scope) => !excluded.includes(scope)).join(" ")
}

/**
 * The errors of the tool server. They say where a host learns how to get a token, and with which scope (RFC 9728, section 5.1; RFC
 * 6750, section 3).
 */
export const mcpError =
  (settings: Settings, { headers, url }: NodeRequest): ErrorForm =>
  (error) => {
    const response = toResponse(error)
    const issuer = issuerOf(settings, headers)
    if (issuer === null || (error.status !== 401 && error.scope === undefined)) return response
    const isSent = headers.authorization !== undefined || headers["x-api-key"] !== undefined
    const code = error.status === 403 ? "insufficient_scope" : isSent ? "invalid_token" : undefined
    const parameters = [
      'realm="coffer"',
      ...(code === undefined ? [] : [`error="${code}"`]),
      `resource_metadata="${issuer}${resourceMetadataPath}/mcp"`,
      `scope="${error.scope ?? scopeAt(url)}"`
    ]
    return HttpServerResponse.setHeader(response, "www-authenticate", `Bearer ${parameters.join(", ")}`)
  }
