import type { AnyApiError } from "@coffer/domain/Errors"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/** Vault knows no 401: a token that is not valid has no permission. */
const statusOf = ({ status }: AnyApiError): number => (status === 401 ? 403 : status)

/** An error in Vault's form. Clients look for the words `permission denied`. */
export const vaultError = (error: AnyApiError): HttpServerResponse.HttpServerResponse => {
  const status = statusOf(error)
  return HttpServerResponse.unsafeJson(
    { errors: [status === 403 ? `permission denied: ${error.message}` : error.message] },
    {
      status,
      headers: {
        ...(error.retryAfter !== undefined && { "retry-after": String(error.retryAfter) }),
        ...(error.allow !== undefined && { allow: error.allow })
      }
    }
  )
}
