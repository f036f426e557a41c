import type { AnyApiError } from "@coffer/domain/errors/Errors"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Data from "effect/Data"

export const scimPath = "/scim/v2"

export const isScimPath = (url: string): boolean => /^\/scim(?:[/?]|$)/.test(url)

export const scimMediaType = "application/scim+json"

/** The reasons of RFC 7644, section 3.12. */
export type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue"

/** A refusal that only SCIM has words for. */
export class ScimRefusal extends Data.TaggedError("ScimRefusal")<{
  readonly status: number
  readonly detail: string
  readonly scimType?: ScimType
}> {}

export const invalid = (scimType: ScimType, detail: string): ScimRefusal =>
  new ScimRefusal({ status: 400, scimType, detail })

/** An error in the form of RFC 7644, section 3.12. */
export const refusedResponse = ({
  detail,
  scimType,
  status
}: Pick<ScimRefusal, "status" | "detail" | "scimType">): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(
    {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
      status: String(status),
      ...(scimType !== undefined && { scimType }),
      detail
    },
    { status, contentType: scimMediaType }
  )

const scimTypes: Readonly<Record<string, ScimType>> = { VALIDATION_ERROR: "invalidSyntax", CONFLICT: "uniqueness" }

/** An error of any call in SCIM's form. */
export const scimError = (error: AnyApiError): HttpServerResponse.HttpServerResponse => {
  const scimType = scimTypes[error.code]
  const response = refusedResponse({
    status: error.status,
    detail: error.message,
    ...(scimType !== undefined && error.status !== 408 && { scimType })
  })
  return HttpServerResponse.setHeaders(response, {
    ...(error.retryAfter !== undefined && { "retry-after": String(error.retryAfter) }),
    ...(error.allow !== undefined && { allow: error.allow }),
    ...(error.status === 401 && { "www-authenticate": 'Bearer realm="coffer"' })
  })
}
