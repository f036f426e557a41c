import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, LimitExceeded } from "../errors/Errors.js"
import { grace, graceId } from "../base/Examples.js"
import { Group, GroupEmails, GroupMappings, GroupMember, NewGroupMappings } from "../directory/Group.js"
import { UserId } from "../base/Ids.js"
import { Email, GroupName, NewGroupName } from "../base/Names.js"
import { body, field, list } from "../base/Schemas.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, RecentLogin, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const groupPath = { ...orgPath, group_name: GroupName }
const GroupPath = Schema.Struct(groupPath)
const MemberPath = Schema.Struct({ ...groupPath, user_id: field(UserId, "the user's id", graceId) })

const groups = `${paths.org}/groups` as const
const group = `${groups}/:group_name` as const
const members = `${group}/members` as const

const mappings = `${paths.org}/group-mappings` as const

const newName = body({ name: NewGroupName })

export class GroupsApi extends HttpApiGroup.make("groups")
  .add(
    HttpApiEndpoint.post("create", groups)
      .setPath(OrgPath)
      .setPayload(newName)
      .addSuccess(response(Group, "The new group", { members: 0, rules: 0 }), { status: 201 })
      .pipe(requires("group.create"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Create a group")
      .annotate(
        OpenApi.Description,
        "A group has no members and gives nothing at first: add members, and grant it rules with `subject_type: group`."
      )
  )
  .add(
    HttpApiEndpoint.get("list", groups)
      .setPath(OrgPath)
      .addSuccess(response(list(Group), "The groups"))
      .pipe(requires("group.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List groups")
      .annotate(OpenApi.Description, "For admins and owners, by name.")
  )
  .add(
    HttpApiEndpoint.get("get", group)
      .setPath(GroupPath)
      .addSuccess(response(Group, "The group"))
      .pipe(requires("group.list"))
      .annotate(OpenApi.Summary, "Show a group")
      .annotate(OpenApi.Description, "For admins and owners.")
  )
  .add(
    HttpApiEndpoint.patch("rename", group)
      .setPath(GroupPath)
      .setPayload(newName)
      .addSuccess(response(Group, "The group with its new name"))
      .pipe(requires("group.update"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Rename a group")
      .annotate(OpenApi.Description, "Its members and rules stay.")
  )
  .add(
    HttpApiEndpoint.del("remove", group)
      .setPath(GroupPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The group is removed"))
      .pipe(requires("group.delete"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Remove a group and its access rules")
      .annotate(
        OpenApi.Description,
        "Its members stay in the organization. What only the group gave them ends for every request that starts after the response."
      )
  )
  .add(
    HttpApiEndpoint.get("members", members)
      .setPath(GroupPath)
      .addSuccess(response(list(GroupMember), "The members"))
      .pipe(requires("group.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List the members of a group")
      .annotate(OpenApi.Description, "For admins and owners, by e-mail address.")
  )
  .add(
    HttpApiEndpoint.put("setMembers", members)
      .setPath(GroupPath)
      .setPayload(body({ emails: field(GroupEmails, "e-mail addresses of all members", [grace]) }))
      .addSuccess(response(Group, "The group with its members"))
      .pipe(requires("group.members"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Set all members of a group")
      .annotate(
        OpenApi.Description,
        "Adds and removes what differs, all or nothing. Everyone has to be a member of the organization. People whom a login brought stay: that ends with the login or the mapping."
      )
  )
  .add(
    HttpApiEndpoint.post("addMember", members)
      .setPath(GroupPath)
      .setPayload(body({ email: field(Email, "an e-mail address; stored trimmed and in lowercase", grace) }))
      .addSuccess(response(GroupMember, "The new member"), { status: 201 })
      .addSuccess(response(GroupMember, "The member, who was in the group already"), { status: 200 })
      .pipe(requires("group.members"), recentLogin("always"))
      .addError(LimitExceeded)
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Add a member to a group")
      .annotate(OpenApi.Description, "The person has to be a member of the organization.")
  )
  .add(
    HttpApiEndpoint.del("removeMember", `${members}/:user_id`)
      .setPath(MemberPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The member is removed from the group"))
      .pipe(requires("group.members"))
      .addError(Conflict)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a member from a group")
      .annotate(
        OpenApi.Description,
        "The person stays in the organization, and in the group as long as a login counts that brought the person. Fails with CONFLICT if only a login did."
      )
  )
  .add(
    HttpApiEndpoint.get("mappings", mappings)
      .setPath(OrgPath)
      .addSuccess(response(GroupMappings, "The mappings"))
      .pipe(requires("group.list"))
      .annotate(OpenApi.Summary, "List group mappings of the identity provider")
      .annotate(OpenApi.Description, "For admins and owners, by the provider's names.")
  )
  .add(
    HttpApiEndpoint.put("setMappings", mappings)
      .setPath(OrgPath)
      .setPayload(
        body({
          mappings: field(NewGroupMappings, "all mappings", [
            { provider_group: "platform-team", group: GroupName.make("backend") }
          ])
        })
      )
      .addSuccess(response(GroupMappings, "The mappings"))
      .pipe(requires("group.map"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Set group mappings of the identity provider")
      .annotate(
        OpenApi.Description,
        "Replaces all mappings. A login at the provider then brings members of the organization into these groups, beside those who were added. What a removed mapping gave ends with the response; a new one counts from each member's next login."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Groups")
  .annotate(OpenApi.Description, "Members of an organization who get access rules together. A group gives no role") {}
