import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authentication } from "../access/Actor.js"
import { Previews, previewTerms } from "../access/Previews.js"
import { body } from "../base/Schemas.js"
import { paths, ProjectPath } from "./Paths.js"
import { Admission, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const previews = `${paths.project}/previews` as const

export class PreviewsApi extends HttpApiGroup.make("previews")
  .add(
    HttpApiEndpoint.get("get", previews)
      .setPath(ProjectPath)
      .addSuccess(response(Previews, "What previews the project allows"))
      .pipe(requires("previews.read"))
      .annotate(OpenApi.Summary, "Show what previews a project allows")
      .annotate(OpenApi.Description, "For any member. NOT_FOUND if it allows none, or if their source was removed.")
  )
  .add(
    HttpApiEndpoint.put("set", previews)
      .setPath(ProjectPath)
      .setPayload(body(previewTerms))
      .addSuccess(response(Previews, "What previews the project allows now"))
      .pipe(requires("previews.set"), recentLogin("always"))
      .annotate(OpenApi.Summary, "Allow previews in a project")
      .annotate(
        OpenApi.Description,
        "Whoever has `write` on an environment name that matches `pattern`, accounts too, may then create that environment as a copy of `from`. It lasts for at most `longest`, and there must be fewer than `max` of them. The same callers may extend it within `longest` from now, and remove it. The copy needs `read` on `from`. Environments without an end, and copies of others, stay with admins."
      )
  )
  .add(
    HttpApiEndpoint.del("remove", previews)
      .setPath(ProjectPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The project allows no previews any more"))
      .pipe(requires("previews.delete"), recentLogin("always"))
      .annotate(OpenApi.Summary, "Allow no previews in a project any more")
      .annotate(OpenApi.Description, "Existing ones stay until their end; only admins extend or remove them.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Previews")
  .annotate(OpenApi.Description, "Environments for a while that those who write in a project create themselves") {}
