import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import { optional } from "../base/Schemas.js"
import { ApprovalRequired } from "../errors/Errors.js"
import { ChangeRequestedResponse } from "../requests/ApprovalRequest.js"

const reason = "1 to 500 characters on one line, as percent-encoded UTF-8"

/**
 * The headers of every call that may need the votes of a protected environment. Such a call declares `ChangeRequestedResponse`,
 * which is how the OpenAPI document knows it. They are no parameters of the typed calls: a client sends them with all changes.
 */
export const AskingHeaders = Schema.Struct({
  prefer: optional(
    Schema.String,
    "`respond-async`: if the change needs votes, ask for them; the response is then 202 with a request, not APPROVAL_REQUIRED",
    "respond-async"
  ),
  "x-coffer-reason": optional(
    Schema.String,
    `why, for the people who vote, with \`Prefer: respond-async\`: ${reason}`,
    "INC-12"
  ),
  "x-coffer-break-glass": optional(
    Schema.String,
    `why the change cannot wait: makes it at once, for people whom the protection names, and mails all owners; ${reason}`,
    "INC-12"
  )
})

export type AskingHeader = keyof typeof AskingHeaders.Type

interface Declared {
  readonly ast: Schema.Schema.All["ast"]
}

const changeRequested = 202

/** Whether a call may need votes, and so takes `AskingHeaders`. */
export const mayNeedVotes = ({ errorSchema }: { readonly errorSchema: Declared }): boolean => {
  const { ast } = errorSchema
  return (ast._tag === "Union" ? ast.types : [ast]).some(
    (each) => HttpApiSchema.getStatusErrorAST(each) === changeRequested
  )
}

/** Declares that a change may need the votes of a protected environment: the error without them, and the request for them. */
export const guarded = <
  Name extends string,
  Method extends HttpMethod.HttpMethod,
  Path,
  UrlParams,
  Payload,
  Headers,
  Success,
  Error,
  R,
  RE
>(
  endpoint: HttpApiEndpoint.HttpApiEndpoint<Name, Method, Path, UrlParams, Payload, Headers, Success, Error, R, RE>
) => endpoint.addError(ApprovalRequired).addError(ChangeRequestedResponse)
