import type { AnyApiError } from "@coffer/domain/errors/Errors"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/** Vault knows no 401: a token that is not valid has no permission. */
const statusOf = ({ status }: AnyApiError): number => (status === 401 ? 403 : status)

/** Clients look for the words `permission denied`; OpenClaw for `invalid token` by itself, to know whose 403 it is. */
const sentencesOf = ({ message, status }: AnyApiError): ReadonlyArray<string> => {
  if (status === 401) return [`permission denied: ${message}`, "invalid token"]
  return [status === 403 ? `permission denied: ${message}` : message]
}

/** An error in Vault's form. */
export const vaultError = (error: AnyApiError): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(
    { errors: sentencesOf(error) },
    {
      status: statusOf(error),
      headers: {
        ...(error.retryAfter !== undefined && { "retry-after": String(error.retryAfter) }),
        ...(error.allow !== undefined && { allow: error.allow })
      }
    }
  )
