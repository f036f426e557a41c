import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { HistoryCursor, ProjectRevisions } from "../secrets/ProjectRevision.js"
import { LimitParameter, optional } from "../base/Schemas.js"
import { paths, ProjectPath } from "./Paths.js"
import { Admission, Compressible, requires } from "./Requirement.js"
import { response } from "./Response.js"

export class HistoryApi extends HttpApiGroup.make("history")
  .add(
    HttpApiEndpoint.get("list", `${paths.project}/revisions`)
      .setPath(ProjectPath)
      .setUrlParams(Schema.Struct({ limit: optional(LimitParameter), after: optional(HistoryCursor) }))
      .addSuccess(response(ProjectRevisions, "A page of revisions"))
      .pipe(requires("env.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List the changes of all environments of a project, newest first, without values")
      .annotate(
        OpenApi.Description,
        "Only of the environments whose keys the caller may list. A page has at most `limit` revisions and 4,000 changes, so a page may be short: send `next_cursor` as `after` until it is null."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "History")
  .annotate(OpenApi.Description, "What changed in a project, over its environments") {}
