import { AclRule } from "@coffer/domain/AclRule"
import { Member } from "@coffer/domain/Member"
import { Organization } from "@coffer/domain/Organization"
import { list } from "@coffer/domain/Schemas"
import { reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

export const orgList = tool({
  name: "org_list",
  title: "List organizations",
  description:
    "Returns the organizations that the credential belongs to, with the role in each: a service account has one, and no role. " +
    "Use it to find the name to pass as org in the other tools.",
  hints: reads,
  parameters: parameters({}),
  at: "server",
  output: list(Organization),
  run: (call) => call("organizations", (api) => api.list())
})

export const orgMembersList = tool({
  name: "org_members_list",
  title: "List an organization's members",
  description:
    "Returns the people of an organization with e-mail address and role. Use it to tell who could grant a right; service accounts may not call it.",
  hints: reads,
  parameters: parameters({}),
  at: "org",
  output: list(Member),
  run: (call, path) => call("members", (api) => api.list({ path }))
})

export const aclList = tool({
  name: "acl_list",
  title: "List access rules",
  description:
    "Returns the access rules of an organization: who may read, write or administer which projects and environments. " +
    "Use it to explain why something is FORBIDDEN; it takes an admin's rights.",
  hints: reads,
  parameters: parameters({}),
  at: "org",
  output: list(AclRule),
  run: (call, path) => call("acl", (api) => api.list({ path }))
})
