import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, Forbidden, LimitExceeded } from "../errors/Errors.js"
import { withMessage } from "../base/Message.js"
import { OrgName } from "../base/Names.js"
import {
  Organization,
  passkeyRecoveries,
  unusedAccessMailMeaning,
  UnusedAccessMailWord
} from "../directory/Organization.js"
import { body, list, optional } from "../base/Schemas.js"
import { guarded } from "./AskingHeaders.js"
import { response } from "./Response.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, RecentLogin, recentLogin, Requires, requires } from "./Requirement.js"

const nothingNamed = withMessage("takes name, passkey_recovery or unused_access_mail")

const change = body({
  name: optional(OrgName, "its new name", OrgName.make("acme-inc")),
  passkey_recovery: optional(
    Schema.Literal(...passkeyRecoveries).annotations(withMessage("must be one of login, none")),
    "what removes a lost passkey of a member: a login, or nothing",
    "none"
  ),
  unused_access_mail: optional(UnusedAccessMailWord, unusedAccessMailMeaning, "monthly")
}).pipe(
  Schema.filter((changes) => Object.keys(changes).length > 0 || { path: [], message: nothingNamed.message().message }, {
    examples: [{ name: OrgName.make("acme-inc") }]
  })
)

export class OrganizationsApi extends HttpApiGroup.make("organizations")
  .add(
    HttpApiEndpoint.post("create", paths.orgs)
      .setPayload(body({ name: OrgName }))
      .addSuccess(response(Organization, "The new organization"), { status: 201 })
      .pipe(requires("org.create"))
      .addError(Conflict)
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Create an organization")
      .annotate(
        OpenApi.Description,
        "The caller becomes its owner. The name that a protected place had is given out again after 30 days; its members can ask for it before."
      )
  )
  .add(
    HttpApiEndpoint.get("list", paths.orgs)
      .addSuccess(response(list(Organization), "The organizations"))
      .addError(Forbidden)
      .annotate(Requires, "credential")
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List the caller's organizations")
      .annotate(OpenApi.Description, "A superadmin sees all organizations, a service account its own.")
  )
  .add(
    HttpApiEndpoint.get("get", paths.org)
      .setPath(OrgPath)
      .addSuccess(response(Organization, "The organization"))
      .pipe(requires("org.read"))
      .annotate(OpenApi.Summary, "Show an organization")
      .annotate(OpenApi.Description, "The record includes the caller's role.")
  )
  .add(
    HttpApiEndpoint.patch("update", paths.org)
      .setPath(OrgPath)
      .setPayload(change)
      .addSuccess(response(Organization, "The organization as it is now", { name: "acme-inc" }))
      .pipe(requires("org.update"), recentLogin("always"))
      .addError(Conflict)
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Rename an organization, or change its settings")
      .annotate(
        OpenApi.Description,
        "Owners only. Under a new name, the contents stay, but paths and settings with the old name stop working. If it holds a protected environment, a new name needs its votes. With `passkey_recovery: none`, a login alone does not remove a member's passkey. With `unused_access_mail: monthly`, the owners get a mail in each month in which access is unused."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", paths.org)
      .setPath(OrgPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The organization is removed"))
      .pipe(requires("org.delete"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Remove an organization")
      .annotate(
        OpenApi.Description,
        "Everything in it becomes inaccessible at once. It can be restored for the days of the server's `SERVICE_TRASH_DAYS`; until then, its name is kept for its owners. If it holds a protected environment, the name is given to others after 30 days."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Organizations")
  .annotate(OpenApi.Description, "The tenants. Nothing of an organization is visible to others") {}
