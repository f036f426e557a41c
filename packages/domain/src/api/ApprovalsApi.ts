import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Approval } from "../requests/Approval.js"
import { Conflict } from "../errors/Errors.js"
import { ApprovalId } from "../base/Ids.js"
import { list } from "../base/Schemas.js"
import { response } from "./Response.js"
import { OrgPath, orgPath, paths } from "./Paths.js"
import { Admission, Polled, RecentLogin, recentLogin, requires } from "./Requirement.js"

const approvals = `${paths.org}/approvals` as const
const ApprovalPath = Schema.Struct({ ...orgPath, approval_id: ApprovalId })

export class ApprovalsApi extends HttpApiGroup.make("approvals")
  .add(
    HttpApiEndpoint.get("list", approvals)
      .setPath(OrgPath)
      .addSuccess(response(list(Approval), "The requests, newest first"))
      .pipe(requires("approval.list"))
      .annotate(Polled, true)
      .annotate(OpenApi.Summary, "List requests with secrets that wait for a person")
      .annotate(OpenApi.Description, "Those of environments where the caller has `admin`. Values are never in them.")
  )
  .add(
    HttpApiEndpoint.post("approve", `${approvals}/:approval_id/approve`)
      .setPath(ApprovalPath)
      .addSuccess(response(Approval, "The approved request", { state: "approved" }))
      .pipe(requires("approval.list"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Approve a request with a secret")
      .annotate(
        OpenApi.Description,
        "Needs `admin` in its environment, as a person. The caller then has 5 minutes to send the same request again, once."
      )
  )
  .add(
    HttpApiEndpoint.post("refuse", `${approvals}/:approval_id/refuse`)
      .setPath(ApprovalPath)
      .addSuccess(response(Approval, "The refused request", { state: "refused" }))
      .pipe(requires("approval.list"))
      .addError(Conflict)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Refuse a request with a secret")
      .annotate(OpenApi.Description, "Needs `admin` in its environment, as a person.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Approvals")
  .annotate(
    OpenApi.Description,
    "Requests that use rules with `approval: each` let through only after a person has approved them"
  ) {}
