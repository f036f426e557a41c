import { oauthScopes } from "@coffer/domain/directory/Consent"
import { authorizePath, oauthPaths, resourceOf } from "../../http/mcp/Issuer.js"

/** The metadata of the tool server as a resource (RFC 9728, section 2). */
export const resourceMetadata = (issuer: string) => ({
  resource: resourceOf(issuer),
  resource_name: "Coffer",
  authorization_servers: [issuer],
  scopes_supported: oauthScopes,
  bearer_methods_supported: ["header"],
  resource_documentation: `${issuer}/docs/mcp`
})

/**
 * The metadata of the authorization server (RFC 8414, section 2), with PKCE by S256 alone (RFC 7636), documents of clients, and the
 * issuer in each answer (RFC 9207).
 */
export const serverMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}${authorizePath}`,
  token_endpoint: `${issuer}${oauthPaths.token}`,
  registration_endpoint: `${issuer}${oauthPaths.register}`,
  revocation_endpoint: `${issuer}${oauthPaths.revoke}`,
  scopes_supported: oauthScopes,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code"],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  code_challenge_methods_supported: ["S256"],
  client_id_metadata_document_supported: true,
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${issuer}/docs/mcp`
})
