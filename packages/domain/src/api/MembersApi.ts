import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { Conflict, Forbidden, LastOwner, LimitExceeded } from "../Errors.js"
import { UserId } from "../Ids.js"
import { Member, Role } from "../Member.js"
import { Email } from "../Names.js"
import { body, list, optional } from "../Schemas.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import { Admission, Requires } from "./Requirement.js"

const MemberPath = Schema.Struct({ ...orgPath, user_id: UserId })

export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.post("invite", `${paths.org}/members`)
      .setPath(OrgPath)
      .setPayload(body({ email: Email, role: optional(Role) }))
      .addSuccess(Member, { status: 201 })
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(Requires, "member.invite")
      .annotate(OpenApi.Summary, "Invite a person by e-mail")
      .annotate(
        OpenApi.Description,
        "The default role is `member`. Only an owner may invite an owner. A disabled person becomes a member but still cannot log in."
      )
  )
  .add(
    HttpApiEndpoint.get("list", `${paths.org}/members`)
      .setPath(OrgPath)
      .addSuccess(list(Member))
      .addError(Forbidden)
      .annotate(Requires, "member.list")
      .annotate(OpenApi.Summary, "List members and their roles")
  )
  .add(
    HttpApiEndpoint.patch("setRole", `${paths.org}/members/:user_id`)
      .setPath(MemberPath)
      .setPayload(body({ role: Role }))
      .addSuccess(Member)
      .addError(Forbidden)
      .addError(LastOwner)
      .annotate(Requires, "member.update")
      .annotate(OpenApi.Summary, "Change a member's role")
  )
  .add(
    HttpApiEndpoint.del("remove", `${paths.org}/members/:user_id`)
      .setPath(MemberPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Forbidden)
      .addError(LastOwner)
      .annotate(Requires, "member.remove")
      .annotate(OpenApi.Summary, "Remove a member and their access rules")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Members")
  .annotate(OpenApi.Description, "People in an organization, each in one role: owner, admin, developer or member") {}
