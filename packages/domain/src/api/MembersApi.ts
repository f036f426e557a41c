import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, LastOwner, LimitExceeded } from "../errors/Errors.js"
import { grace, graceId } from "../base/Examples.js"
import { UserId } from "../base/Ids.js"
import { Member, Role } from "../directory/Member.js"
import { Email } from "../base/Names.js"
import { body, field, list, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, recentLogin, requires } from "./Requirement.js"

const role = "a role in the organization"

const MemberPath = Schema.Struct({ ...orgPath, user_id: field(UserId, "the user's id", graceId) })

export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.post("invite", `${paths.org}/members`)
      .setPath(OrgPath)
      .setPayload(
        body({
          email: field(Email, "an e-mail address; stored trimmed and in lowercase", grace),
          role: optional(Role, role, "developer")
        })
      )
      .addSuccess(response(Member, "The new member"), { status: 201 })
      .pipe(requires("member.invite"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Invite a person by e-mail")
      .annotate(
        OpenApi.Description,
        "The default role is `member`. Only an owner may invite an owner. A disabled person becomes a member but still cannot log in."
      )
  )
  .add(
    HttpApiEndpoint.get("list", `${paths.org}/members`)
      .setPath(OrgPath)
      .addSuccess(response(list(Member), "The members"))
      .pipe(requires("member.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List members and their roles")
      .annotate(OpenApi.Description, "For any member.")
  )
  .add(
    HttpApiEndpoint.patch("setRole", `${paths.org}/members/:user_id`)
      .setPath(MemberPath)
      .setPayload(body({ role: field(Role, role, "admin") }))
      .addSuccess(response(Member, "The member in the new role", { role: "admin" }))
      .pipe(requires("member.update"), recentLogin("always"))
      .addError(Conflict)
      .addError(LastOwner)
      .annotate(OpenApi.Summary, "Change a member's role")
      .annotate(
        OpenApi.Description,
        "Owners only. The role of the last owner cannot be changed. CONFLICT if nobody could then end the protection of an environment: another member has to vote first."
      )
  )
  .add(
    HttpApiEndpoint.del("remove", `${paths.org}/members/:user_id`)
      .setPath(MemberPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The member is removed"))
      .pipe(requires("member.remove"), recentLogin("always"))
      .addError(Conflict)
      .addError(LastOwner)
      .annotate(OpenApi.Summary, "Remove a member and their access rules")
      .annotate(
        OpenApi.Description,
        "Only an owner can remove an owner. The last owner cannot be removed. CONFLICT if nobody could then end the protection of an environment: another member has to vote first. Service accounts that the person created stay valid, and the person may know their keys: find them by `created_by`, and rotate the keys."
      )
  )
  .add(
    HttpApiEndpoint.del("leave", `${paths.org}/members/me`)
      .setPath(OrgPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The caller is no member any more"))
      .pipe(requires("member.leave"), recentLogin("always"))
      .addError(Conflict)
      .addError(LastOwner)
      .annotate(OpenApi.Summary, "Leave an organization, or decline an invitation")
      .annotate(
        OpenApi.Description,
        "For any member, for themselves. Ends what the removal of a member ends: rules, places in groups, delegations. An owner can leave only if another owner has accepted the membership. CONFLICT if the votes of a protected environment would then not be enough."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Members")
  .annotate(OpenApi.Description, "People in an organization, each in one role: owner, admin, developer or member") {}
