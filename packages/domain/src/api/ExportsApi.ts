import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { ArchivedDeclarations } from "../archive/ArchivedOrganization.js"
import { ExportCursor, ExportedStructure, ExportedVersions, OrganizationExport } from "../archive/Export.js"
import { ApprovalNeeded, Conflict, DecryptionFailed, LimitExceeded } from "../errors/Errors.js"
import { ExportId } from "../base/Ids.js"
import { EnvName, ProjectName } from "../base/Names.js"
import { body, field, list, optional } from "../base/Schemas.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import { Admission, LargeResponse, RecentLogin, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const exports = `${paths.org}/exports` as const
const oneExport = `${exports}/:export_id` as const
const ExportPath = Schema.Struct({ ...orgPath, export_id: ExportId })

const project = field(ProjectName, "the project")

export class ExportsApi extends HttpApiGroup.make("exports")
  .add(
    HttpApiEndpoint.post("create", exports)
      .setPath(OrgPath)
      .setPayload(
        body({
          versions: optional(
            Schema.Boolean,
            "true: also the values of earlier versions; default: false, only that they existed",
            false
          )
        })
      )
      .addSuccess(response(OrganizationExport, "The new export"), { status: 201 })
      .pipe(requires("org.export"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Ask to take an organization out")
      .annotate(
        OpenApi.Description,
        "For owners. All owners are mailed. If an environment is protected, the export waits until another owner approves it. Whoever asked can then read it for an hour, by the calls below."
      )
  )
  .add(
    HttpApiEndpoint.get("list", exports)
      .setPath(OrgPath)
      .addSuccess(response(list(OrganizationExport), "The exports"))
      .pipe(requires("org.export"))
      .annotate(OpenApi.Summary, "List exports that have not ended")
      .annotate(OpenApi.Description, "For owners, oldest first.")
  )
  .add(
    HttpApiEndpoint.get("get", oneExport)
      .setPath(ExportPath)
      .addSuccess(response(OrganizationExport, "The export"))
      .pipe(requires("org.export"))
      .annotate(OpenApi.Summary, "Show an export")
      .annotate(OpenApi.Description, "For owners: whether it waits for another owner, or can be read.")
  )
  .add(
    HttpApiEndpoint.post("approve", `${oneExport}/approve`)
      .setPath(ExportPath)
      .addSuccess(
        response(OrganizationExport, "The export, which can be read now", { approved_by: "grace@example.com" })
      )
      .pipe(requires("org.export"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Approve another owner's export")
      .annotate(
        OpenApi.Description,
        "For owners, but not for the one who asked. CONFLICT if it waits for nobody, or if whoever asked is no owner any more."
      )
  )
  .add(
    HttpApiEndpoint.del("end", oneExport)
      .setPath(ExportPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The export has ended"))
      .pipe(requires("org.export"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "End an export")
      .annotate(OpenApi.Description, "For owners. It cannot be approved or read any more.")
  )
  .add(
    HttpApiEndpoint.get("structure", `${oneExport}/structure`)
      .setPath(ExportPath)
      .addSuccess(response(ExportedStructure, "The structure"))
      .pipe(requires("org.export"))
      .addError(ApprovalNeeded)
      .addError(LimitExceeded)
      .annotate(LargeResponse, 1024 * 1024)
      .annotate(OpenApi.Summary, "Read the structure of an organization that is exported")
      .annotate(
        OpenApi.Description,
        "Only for the owner who asked. Without keys of accounts, signing keys of webhooks and what was removed. LIMIT_EXCEEDED above 16 MiB."
      )
  )
  .add(
    HttpApiEndpoint.get("declared", `${oneExport}/declared`)
      .setPath(ExportPath)
      .setUrlParams(Schema.Struct({ project }))
      .addSuccess(response(ArchivedDeclarations, "The declared keys, in byte order"))
      .pipe(requires("org.export"))
      .addError(ApprovalNeeded)
      .annotate(LargeResponse, 1024 * 1024)
      .annotate(OpenApi.Summary, "Read the declared keys of a project that is exported")
      .annotate(OpenApi.Description, "Only for the owner who asked.")
  )
  .add(
    HttpApiEndpoint.get("secrets", `${oneExport}/secrets`)
      .setPath(ExportPath)
      .setUrlParams(Schema.Struct({ project, env: field(EnvName, "the environment"), after: optional(ExportCursor) }))
      .addSuccess(response(ExportedVersions, "A page of versions, in byte order of keys and by their numbers"))
      .pipe(requires("org.export"))
      .addError(ApprovalNeeded)
      .addError(DecryptionFailed)
      .annotate(LargeResponse, 4 * 1024 * 1024)
      .annotate(OpenApi.Summary, "Read secrets of an environment that is exported")
      .annotate(
        OpenApi.Description,
        "Only for the owner who asked. A page has at most 200 versions and about 8 MiB, as of one `revision`: begin again if that changes between pages. References are returned as their texts. Each page makes an audit entry."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Exports")
  .annotate(OpenApi.Description, "Taking an organization out of the server, as docs/move-organizations.md describes") {}
