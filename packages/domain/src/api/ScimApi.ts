import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authentication } from "../access/Actor.js"
import { Scim, scimGraceHours, ScimWithToken } from "../directory/Scim.js"
import { Conflict } from "../errors/Errors.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const scim = `${paths.org}/scim` as const

export class ScimApi extends HttpApiGroup.make("scim")
  .add(
    HttpApiEndpoint.get("get", scim)
      .setPath(OrgPath)
      .addSuccess(response(Scim, "Whether a directory manages people, and by which tokens"))
      .pipe(requires("scim.read"))
      .annotate(OpenApi.Summary, "Show whether a directory manages people")
      .annotate(OpenApi.Description, "For admins and owners. Tokens are not returned.")
  )
  .add(
    HttpApiEndpoint.post("enable", scim)
      .setPath(OrgPath)
      .addSuccess(response(ScimWithToken, "The directory's path and token"), { status: 201 })
      .pipe(requires("scim.enable"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Let a directory manage people by SCIM")
      .annotate(
        OpenApi.Description,
        "For owners. The token is returned only once. The server's operator says for which domains (SERVICE_SCIM_DOMAINS): CONFLICT if there are none, or if a directory has a token already."
      )
  )
  .add(
    HttpApiEndpoint.post("rotate", `${scim}/rotate`)
      .setPath(OrgPath)
      .addSuccess(response(ScimWithToken, "The same, with the new token"))
      .pipe(requires("scim.rotate"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Give the directory a new token")
      .annotate(
        OpenApi.Description,
        `For owners. The former token stays valid for ${scimGraceHours} hours; one that was replaced before ends at once.`
      )
  )
  .add(
    HttpApiEndpoint.del("disable", scim)
      .setPath(OrgPath)
      .addSuccess(response(HttpApiSchema.NoContent, "No directory manages people any more"))
      .pipe(requires("scim.disable"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Stop the management of people by SCIM")
      .annotate(
        OpenApi.Description,
        "For owners. All tokens end at once. People and groups stay as they are, and are then managed by hand."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "SCIM")
  .annotate(OpenApi.Description, "Lets a directory manage the people of an organization (RFC 7643, 7644)") {}
