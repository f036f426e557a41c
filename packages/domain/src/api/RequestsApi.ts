import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Permission } from "../access/AclRule.js"
import { Authentication } from "../access/Actor.js"
import {
  AccessSeconds,
  ApprovalRequest,
  Reason,
  RequestPage,
  requestKinds,
  requestStates,
  VoteComment
} from "../requests/ApprovalRequest.js"
import { Conflict, DecryptionFailed, LimitExceeded } from "../errors/Errors.js"
import { RequestId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { EnvName, ProjectName } from "../base/Names.js"
import { body, field, LimitParameter, list, optional } from "../base/Schemas.js"
import { SecretKey } from "../base/Names.js"
import { RedactedSecretValue } from "../secrets/SecretValues.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import {
  Admission,
  BodyLimit,
  Compressible,
  ForDelegations,
  Polled,
  RecentLogin,
  recentLogin,
  requires,
  smallBody
} from "./Requirement.js"
import { response } from "./Response.js"

const requests = `${paths.org}/requests` as const
const request = `${requests}/:request_id` as const
const RequestPath = Schema.Struct({ ...orgPath, request_id: RequestId })

const StateParameter = Schema.Literal(...requestStates).annotations({
  ...withMessage(`must be one of ${requestStates.join(", ")}`),
  description: "only requests in this state",
  examples: ["pending"]
})
const KindParameter = Schema.Literal(...requestKinds).annotations({
  ...withMessage("must be access or change"),
  description: "only requests of this kind",
  examples: ["change"]
})
const AfterParameter = Schema.typeSchema(RequestId).annotations({
  description: "`next_cursor` of the previous page",
  examples: [RequestId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8")]
})

/** The values that a pending change sets. */
const RequestedValues = list(
  Schema.Struct({
    key: field(SecretKey, "the key"),
    value: field(RedactedSecretValue, "the value that the change sets")
  }).annotations({ identifier: "RequestedValue", description: "a value that a requested change sets" })
)

/** A body may be left out. */
const vote = {
  comment: optional(
    VoteComment,
    "what the person says of the vote; whoever sees the request sees it",
    "not before the release"
  )
}

export class RequestsApi extends HttpApiGroup.make("requests")
  .add(
    HttpApiEndpoint.post("create", requests)
      .setPath(OrgPath)
      .setPayload(
        body({
          kind: field(Schema.Literal("access"), "`access`: requests for changes are made by the change itself"),
          project: field(ProjectName, "the project's name"),
          env: field(EnvName, "the environment's name", EnvName.make("prod")),
          permission: field(Permission, "the permission", "read"),
          expires_in: AccessSeconds,
          reason: field(Reason, "a reason, on one line, for the people who vote")
        })
      )
      .addSuccess(response(ApprovalRequest, "The new request", { kind: "access" }), { status: 201 })
      .pipe(requires("request.create"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Ask for access to an environment for a while")
      .annotate(
        OpenApi.Description,
        "For any member or service account; a delegation asks for its person, within its scope. People of the environment's protection decide, or admins and owners if it has none. An approval makes an access rule that ends. CONFLICT if the caller has the permission or cannot get it there, or if nobody but the caller could vote."
      )
  )
  .add(
    HttpApiEndpoint.get("list", requests)
      .setPath(OrgPath)
      .setUrlParams(
        Schema.Struct({
          state: optional(StateParameter),
          kind: optional(KindParameter),
          limit: optional(LimitParameter),
          after: optional(AfterParameter)
        })
      )
      .addSuccess(response(RequestPage, "The requests"))
      .pipe(requires("request.list"))
      .annotate(Compressible, true)
      .annotate(Polled, true)
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "List requests for access and for changes")
      .annotate(
        OpenApi.Description,
        "Newest first: the caller's own, those that it may vote on, and those of environments where it has `admin`. A delegation gets those that it made. Values are never in them."
      )
  )
  .add(
    HttpApiEndpoint.get("get", request)
      .setPath(RequestPath)
      .addSuccess(response(ApprovalRequest, "The request"))
      .pipe(requires("request.list"))
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Show a request, without values")
      .annotate(OpenApi.Description, "NOT_FOUND for one that the caller would not find in the list.")
  )
  .add(
    HttpApiEndpoint.get("values", `${request}/values`)
      .setPath(RequestPath)
      .addSuccess(response(RequestedValues, "The values"))
      .pipe(requires("request.list"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .annotate(OpenApi.Summary, "Read the values that a pending change sets")
      .annotate(
        OpenApi.Description,
        "Needs `read` on the environment. The read is recorded. CONFLICT if the request has ended: its values are gone."
      )
  )
  .add(
    HttpApiEndpoint.post("approve", `${request}/approve`)
      .setPath(RequestPath)
      .setPayload(body(vote))
      .addSuccess(response(ApprovalRequest, "The request with the vote; done, if it was the last one needed"))
      .pipe(requires("request.list"), recentLogin("always"))
      .addError(Conflict)
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Approve a request")
      .annotate(
        OpenApi.Description,
        "As a person whom the protection names. The last vote that is needed makes the change, or the access rule, in the same transaction. CONFLICT if the request has ended or is outdated: the message says what has changed, by key."
      )
  )
  .add(
    HttpApiEndpoint.post("refuse", `${request}/refuse`)
      .setPath(RequestPath)
      .setPayload(body(vote))
      .addSuccess(response(ApprovalRequest, "The refused request", { state: "refused" }))
      .pipe(requires("request.list"), recentLogin("always"))
      .addError(Conflict)
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Refuse a request")
      .annotate(OpenApi.Description, "As a person whom the protection names. One refusal ends the request.")
  )
  .add(
    HttpApiEndpoint.post("withdraw", `${request}/withdraw`)
      .setPath(RequestPath)
      .addSuccess(response(ApprovalRequest, "The withdrawn request", { state: "withdrawn" }))
      .pipe(requires("request.list"))
      .addError(Conflict)
      .annotate(RecentLogin, "never")
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Withdraw one's own request")
      .annotate(OpenApi.Description, "For whoever asked.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Requests")
  .annotate(
    OpenApi.Description,
    "Requests for access to an environment and for changes of a protected one, which people vote on"
  ) {}
