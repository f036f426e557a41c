import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Environment } from "../directory/Environment.js"
import { ApprovalRequired, Conflict, Forbidden, LimitExceeded } from "../errors/Errors.js"
import { RemovedId } from "../base/Ids.js"
import { EnvName, OrgName, ProjectName } from "../base/Names.js"
import { Organization } from "../directory/Organization.js"
import { Project } from "../directory/Project.js"
import { maxRemoved, Removed } from "../directory/Removed.js"
import { body, field, list, optional } from "../base/Schemas.js"
import { guarded } from "./AskingHeaders.js"
import { orgPath, OrgPath, paths, projectPath, ProjectPath } from "./Paths.js"
import { Admission, BodyLimit, recentLogin, Requires, requires, smallBody } from "./Requirement.js"
import { response } from "./Response.js"

const trash = "/api/trash"
const ofOrg = `${paths.org}/trash` as const
const ofProject = `${paths.project}/trash` as const

const RemovedPath = Schema.Struct({ removed_id: RemovedId })
const RemovedProjectPath = Schema.Struct({ ...orgPath, removed_id: RemovedId })
const RemovedEnvPath = Schema.Struct({ ...projectPath, removed_id: RemovedId })

/** Only the places that had a name. */
const named = <S extends typeof OrgName | typeof ProjectName | typeof EnvName>(name: S) =>
  Schema.Struct({ name: optional(name, "only those that had this name") })

const newName = "a new name; left out: the name that it had"
const sameName = "the name that it had, so that nothing else is erased by mistake"

const newest = `Newest first, at most ${maxRemoved}.`
const erased =
  "Its data keys and values are erased for good, within the hour. What the audit log says of it stays. If it is, or holds, a protected environment, this needs its votes."
const asItWas =
  "It comes back as it was: secrets with their versions, rules, protections, accounts and keys. What has ended by its time meanwhile stays ended; requests, delegations and sessions of accounts ended with the removal. CONFLICT if its name is in use: give another one as `name`."

export class TrashApi extends HttpApiGroup.make("trash")
  .add(
    HttpApiEndpoint.get("organizations", trash)
      .setUrlParams(named(OrgName))
      .addSuccess(response(list(Removed), "The removed organizations", {}))
      .addError(Forbidden)
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "List removed organizations")
      .annotate(OpenApi.Description, `Those that the caller may restore: owners their own, superadmins all. ${newest}`)
  )
  .add(
    HttpApiEndpoint.post("restoreOrganization", `${trash}/:removed_id/restore`)
      .setPath(RemovedPath)
      .setPayload(body({ name: optional(OrgName, newName) }))
      .addSuccess(response(Organization, "The organization"))
      .pipe(requires("person"), recentLogin("always"))
      .addError(Conflict)
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Restore a removed organization")
      .annotate(OpenApi.Description, `Its owners and superadmins. ${asItWas} All owners are mailed.`)
  )
  .add(
    HttpApiEndpoint.post("eraseOrganization", `${trash}/:removed_id/erase`)
      .setPath(RemovedPath)
      .setPayload(body({ name: field(OrgName, sameName) }))
      .addSuccess(response(HttpApiSchema.NoContent, "The organization can no longer be restored"))
      .pipe(requires("person"), recentLogin("always"))
      .addError(ApprovalRequired)
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Erase a removed organization for good")
      .annotate(
        OpenApi.Description,
        `Its owners and superadmins. ${erased} Nobody votes in a removed organization: restore it and end the protections first.`
      )
  )
  .add(
    HttpApiEndpoint.get("projects", ofOrg)
      .setPath(OrgPath)
      .setUrlParams(named(ProjectName))
      .addSuccess(response(list(Removed), "The removed projects", {}))
      .pipe(requires("project.restore"))
      .annotate(OpenApi.Summary, "List removed projects")
      .annotate(OpenApi.Description, `The projects of the organization that can be restored. ${newest}`)
  )
  .add(
    HttpApiEndpoint.post("restoreProject", `${ofOrg}/:removed_id/restore`)
      .setPath(RemovedProjectPath)
      .setPayload(body({ name: optional(ProjectName, newName) }))
      .addSuccess(response(Project, "The project"))
      .pipe(requires("project.restore"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .pipe(guarded)
      .annotate(OpenApi.Summary, "Restore a removed project")
      .annotate(
        OpenApi.Description,
        `${asItWas} If it holds a protected environment, this needs that environment's votes.`
      )
  )
  .add(
    HttpApiEndpoint.post("eraseProject", `${ofOrg}/:removed_id/erase`)
      .setPath(RemovedProjectPath)
      .setPayload(body({ name: field(ProjectName, sameName) }))
      .addSuccess(response(HttpApiSchema.NoContent, "The project can no longer be restored"))
      .pipe(requires("project.erase"), recentLogin("always"))
      .addError(LimitExceeded)
      .pipe(guarded)
      .annotate(OpenApi.Summary, "Erase a removed project for good")
      .annotate(OpenApi.Description, erased)
  )
  .add(
    HttpApiEndpoint.get("environments", ofProject)
      .setPath(ProjectPath)
      .setUrlParams(named(EnvName))
      .addSuccess(response(list(Removed), "The removed environments", {}))
      .pipe(requires("env.restore"))
      .annotate(OpenApi.Summary, "List removed environments")
      .annotate(
        OpenApi.Description,
        `The environments of the project that can be restored; not those that have ended by their time. ${newest}`
      )
  )
  .add(
    HttpApiEndpoint.post("restoreEnvironment", `${ofProject}/:removed_id/restore`)
      .setPath(RemovedEnvPath)
      .setPayload(body({ name: optional(EnvName, newName) }))
      .addSuccess(response(Environment, "The environment"))
      .pipe(requires("env.restore"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .pipe(guarded)
      .annotate(OpenApi.Summary, "Restore a removed environment")
      .annotate(OpenApi.Description, `${asItWas} If it is protected, this needs its votes.`)
  )
  .add(
    HttpApiEndpoint.post("eraseEnvironment", `${ofProject}/:removed_id/erase`)
      .setPath(RemovedEnvPath)
      .setPayload(body({ name: field(EnvName, sameName) }))
      .addSuccess(response(HttpApiSchema.NoContent, "The environment can no longer be restored"))
      .pipe(requires("env.erase"), recentLogin("always"))
      .addError(LimitExceeded)
      .pipe(guarded)
      .annotate(OpenApi.Summary, "Erase a removed environment for good")
      .annotate(OpenApi.Description, erased)
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Trash")
  .annotate(
    OpenApi.Description,
    "Removed organizations, projects and environments are kept for a while, out of everybody's sight: they can be restored, or erased for good"
  ) {}
