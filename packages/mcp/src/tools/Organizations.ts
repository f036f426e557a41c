import { AclRule } from "@coffer/domain/access/AclRule"
import { Member } from "@coffer/domain/directory/Member"
import { Organization } from "@coffer/domain/directory/Organization"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { reads } from "../Hints.js"
import { pages } from "../Pages.js"
import { parameters, tool } from "../Tool.js"

const isJoined = ({ accepted }: Organization) => accepted !== false

const organizations = pages({
  item: Organization.pick("name", "role"),
  nameOf: ({ name }) => name,
  by: "name",
  size: maxPageSize
})

export const orgList = tool({
  name: "org_list",
  title: "List organizations",
  description:
    "Returns the organizations of the credential, with its role in each; a service account has no role. " +
    "Use it to find the name to pass as org.",
  hints: reads,
  parameters: parameters(organizations.parameters),
  at: "server",
  output: organizations.output,
  run: (call, _, parameters) =>
    call("organizations", (api) => api.list()).pipe(
      // A call in one that the person was invited to would accept the invitation, which is not the agent's to decide.
      Effect.map(({ data }) => organizations.page(data.filter(isJoined), parameters))
    )
})

const members = pages({
  item: Member.pick("email", "name", "role"),
  nameOf: ({ email }) => email,
  by: "e-mail address",
  size: 60
})

export const orgMembersList = tool({
  name: "org_members_list",
  action: "member.list",
  title: "List an organization's members",
  description:
    "Returns the people of an organization: e-mail address, name and role. " +
    "Use it to find out who could grant a right; service accounts may not call it.",
  hints: reads,
  parameters: parameters(members.parameters),
  at: "org",
  output: members.output,
  run: (call, path, parameters) =>
    call("members", (api) => api.list({ path })).pipe(Effect.map(({ data }) => members.page(data, parameters)))
})

const rules = pages({
  item: AclRule.pick(
    "subject_type",
    "email",
    "name",
    "group",
    "project_pattern",
    "env_pattern",
    "permission",
    "key_pattern",
    "denies",
    "expires_at"
  ),
  // A subject may have several rules.
  nameOf: ({ email, group, id, name }: AclRule) => `${email ?? group ?? name ?? ""} ${id}`,
  by: "e-mail address or name",
  size: 60
})

export const aclList = tool({
  name: "acl_list",
  title: "List access rules",
  description:
    "Returns the access rules of an organization: who may do what in which projects and environments. " +
    "Use it to explain FORBIDDEN; it takes an admin's rights.",
  hints: reads,
  parameters: parameters(rules.parameters),
  at: "org",
  output: rules.output,
  run: (call, path, parameters) =>
    call("acl", (api) => api.list({ path })).pipe(Effect.map(({ data }) => rules.page(data, parameters)))
})
