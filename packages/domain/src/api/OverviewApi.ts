import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Overview, OverviewCursor } from "../secrets/Overview.js"
import { LimitParameter, optional } from "../base/Schemas.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, requires } from "./Requirement.js"
import { response } from "./Response.js"

export class OverviewApi extends HttpApiGroup.make("overview")
  .add(
    HttpApiEndpoint.get("show", `${paths.org}/overview`)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct({ limit: optional(LimitParameter), after: optional(OverviewCursor) }))
      .addSuccess(response(Overview, "A page of projects"))
      .pipe(requires("project.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Show how much is in each project of an organization, and its last change")
      .annotate(
        OpenApi.Description,
        "Secrets are counted only in environments whose keys the caller may list. A request looks at a limited number of environments, so that a page may be short: send `next_cursor` as `after` until it is null. A service account that is bound to a project sees only that one."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Overview")
  .annotate(OpenApi.Description, "What is in an organization, project by project") {}
