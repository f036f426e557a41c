import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { EnvironmentNames } from "../directory/Environment.js"
import { Conflict, LimitExceeded } from "../errors/Errors.js"
import { EnvName, ProjectName } from "../base/Names.js"
import { Project } from "../directory/Project.js"
import { body, list, optional } from "../base/Schemas.js"
import { guarded } from "./AskingHeaders.js"
import { response } from "./Response.js"
import { OrgPath, ProjectPath, paths } from "./Paths.js"
import { Admission, Compressible, RecentLogin, recentLogin, requires } from "./Requirement.js"

export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.post("create", paths.projects)
      .setPath(OrgPath)
      .setPayload(body({ name: ProjectName }))
      .addSuccess(response(Project, "The new project"), { status: 201 })
      .pipe(requires("project.create"))
      .addError(Conflict)
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Create a project")
      .annotate(
        OpenApi.Description,
        "Also creates the environments `dev`, `staging` and `prod`. The name that a protected place had needs its votes for 30 days."
      )
  )
  .add(
    HttpApiEndpoint.get("list", paths.projects)
      .setPath(OrgPath)
      .addSuccess(response(list(Project), "The projects"))
      .pipe(requires("project.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List projects")
      .annotate(OpenApi.Description, "For any member. A service account that is bound to a project sees only that one.")
  )
  .add(
    HttpApiEndpoint.get("get", paths.project)
      .setPath(ProjectPath)
      .addSuccess(response(Project, "The project"))
      .pipe(requires("project.read"))
      .annotate(OpenApi.Summary, "Show a project")
      .annotate(OpenApi.Description, "For any member.")
  )
  .add(
    HttpApiEndpoint.patch("rename", paths.project)
      .setPath(ProjectPath)
      .setPayload(
        body({
          name: optional(ProjectName, "the new name", ProjectName.make("shop")),
          strict: optional(Schema.Boolean, "true: refuse values that break their declared pattern", true),
          order: optional(
            EnvironmentNames,
            "the order of the environments in all lists; those that it does not name follow, by stage and name. Empty: all by stage and name",
            [EnvName.make("dev"), EnvName.make("prod")]
          )
        })
      )
      .addSuccess(response(Project, "The project as it is now", { name: "shop", strict: true }))
      .pipe(requires("project.update"), recentLogin("always"))
      .addError(Conflict)
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Rename a project, make it strict, or order its environments")
      .annotate(
        OpenApi.Description,
        "Fields that are left out stay as they are. Access rules match names by pattern, so a new name may change which rules match. In a `strict` project, a write whose value breaks the pattern that the project declares for the key is refused with PATTERN_BROKEN; otherwise the answer warns of it. `order` replaces the order that the project had. Consumers read by names: if the project holds a protected environment, a new name needs its votes, and for 30 days they decide who else gets the old one."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", paths.project)
      .setPath(ProjectPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The project is removed"))
      .pipe(requires("project.delete"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Remove a project")
      .annotate(
        OpenApi.Description,
        "Everything in it becomes inaccessible at once. It can be restored for the days of the server's `SERVICE_TRASH_DAYS`. The name can be used again; if it holds a protected environment, only with its votes for 30 days."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Projects")
  .annotate(OpenApi.Description, "Groups of secrets in an organization") {}
