import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authentication } from "../access/Actor.js"
import {
  ApprovalNeeded,
  BrokerDisabled,
  DecryptionFailed,
  LimitExceeded,
  UpstreamFailed,
  UseBudget,
  UseRefused
} from "../errors/Errors.js"
import { list } from "../base/Schemas.js"
import { maxUseRequest, UseRequest, UseResponse } from "../secrets/UseRequest.js"
import { Use } from "../secrets/UseRule.js"
import { response } from "./Response.js"
import { EnvPath, paths } from "./Paths.js"
import { Admission, BodyLimit, ForDelegations, RecentLogin, requires } from "./Requirement.js"

export class UseApi extends HttpApiGroup.make("use")
  .add(
    HttpApiEndpoint.get("uses", `${paths.env}/uses`)
      .setPath(EnvPath)
      .addSuccess(response(list(Use), "What the caller may use"))
      .pipe(requires("secret.uses"))
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "List what the caller may use, without values")
      .annotate(OpenApi.Description, "The use rules that name the caller, with what is left of their budgets.")
  )
  .add(
    HttpApiEndpoint.post("use", `${paths.env}/use`)
      .setPath(EnvPath)
      .setPayload(UseRequest)
      .addSuccess(response(UseResponse, "The answer of the other side, without the values"))
      .pipe(requires("secret.use"))
      .addError(UseRefused)
      .addError(UseBudget)
      .addError(ApprovalNeeded)
      .addError(UpstreamFailed)
      .addError(BrokerDisabled)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, maxUseRequest)
      .annotate(OpenApi.Summary, "Make a request with secrets, without seeing them")
      .annotate(
        OpenApi.Description,
        "The server makes the request, puts the values where the use rules say, and returns the answer without them. Needs `use` and a rule of each secret that fits. The audit entry `secret.use` is committed before the request leaves. Off unless the server has SERVICE_BROKER=1."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Use")
  .annotate(
    OpenApi.Description,
    "Requests that the server makes with secrets, for callers that are never given the values"
  ) {}
