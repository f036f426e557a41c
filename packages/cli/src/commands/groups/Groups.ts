import type { OrgPath } from "@coffer/domain/api/Paths"
import { type Group, type GroupMapping, type GroupMember, ProviderGroup } from "@coffer/domain/directory/Group"
import { type Email, NewGroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { momentCell, momentText } from "../../base/Moments.js"
import { NotThere } from "../../base/Failures.js"
import { atOrg, type Call, group, wide, yes } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { emails, groupName as name } from "../../subjects/Subjects.js"
import { questionAbout } from "../../grammar/Words.js"
import { confirm } from "../../terminal/Prompts.js"
import { note } from "../../terminal/Print.js"
import { doneView, listView } from "../../terminal/View.js"

const columns = {
  name: (one: Group) => one.name,
  members: (one: Group) => String(one.members),
  rules: (one: Group) => String(one.rules),
  "created by": (one: Group) => one.created_by
}

const list = atOrg("list", {
  description: "List the groups",
  examples: ["coffer group list", "coffer group list --json"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("groups", (api) => api.list({ path })),
      (groups) =>
        listView(groups, columns, "there are no groups; make one with: coffer group create NAME", [
          "name",
          "members",
          "rules"
        ])
    )
})

const create = atOrg("create", {
  description: "Create a group",
  examples: ["coffer group create backend"],
  options: { name: argument("NAME", NewGroupName, "The group's name") },
  run: ({ call, options, path }) =>
    Effect.map(
      call("groups", (api) => api.create({ path, payload: { name: options.name } })),
      (made) => doneView(`created the group ${made.name}; add people with: coffer group add`, made)
    )
})

const rename = atOrg("rename", {
  description: "Rename a group; its members and rules stay",
  examples: ["coffer group rename backend platform"],
  options: { name, newName: argument("NEW", NewGroupName, "The new name") },
  run: ({ call, options, path }) =>
    Effect.map(
      call("groups", (api) =>
        api.rename({ path: { ...path, group_name: options.name }, payload: { name: options.newName } })
      ),
      (renamed) => doneView(`the group ${options.name} is now called ${renamed.name}`, renamed)
    )
})

const remove = atOrg("delete", {
  description: "Delete a group, with the access rules about it",
  examples: ["coffer group delete backend"],
  options: { name, yes },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Delete the group ${options.name}, with the access rules about it?`, options.yes)
      yield* call("groups", (api) => api.remove({ path: { ...path, group_name: options.name } }))
      return doneView(`deleted the group ${options.name}, with its access rules`)
    })
})

const memberColumns = {
  email: (member: GroupMember) => member.email,
  name: (member: GroupMember) => member.name,
  "added by": (member: GroupMember) => member.added_by,
  since: (member: GroupMember) => momentCell(member.created_at),
  "by login as": (member: GroupMember) => member.provider_group,
  "login counts until": (member: GroupMember) => momentCell(member.login_ends_at)
}

const members = atOrg("members", {
  description: "List the members of a group: who added each, and what a login at the provider brought",
  examples: ["coffer group members backend"],
  options: { name, wide },
  run: ({ call, options, path }) =>
    Effect.map(
      call("groups", (api) => api.members({ path: { ...path, group_name: options.name } })),
      (found) =>
        listView(found, memberColumns, "the group has no members; add some with: coffer group add", [
          "email",
          "login counts until"
        ])
    )
})

const add = atOrg("add", {
  description: "Add people of the organization to a group",
  examples: ["coffer group add backend grace@example.com"],
  options: { name, emails },
  run: ({ call, options, path }) =>
    Effect.map(
      Effect.forEach(options.emails, (email) =>
        call("groups", (api) => api.addMember({ path: { ...path, group_name: options.name }, payload: { email } }))
      ),
      (added) => doneView(`${added.map(({ email }) => email).join(", ")} in the group ${options.name}`, { data: added })
    )
})

/** The members of a group with these addresses. */
const findMembers = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath & { readonly group_name: Group["name"] },
  wanted: ReadonlyArray<Email>
) {
  const { data } = yield* call("groups", (api) => api.members({ path }))
  return yield* Effect.forEach(wanted, (email) => {
    const found = data.find((member) => member.email === email)
    return found === undefined
      ? new NotThere({
          message: `${email} is not in the group ${path.group_name}${questionAbout(
            email,
            data.map((member) => member.email)
          )} coffer group members shows who is`
        })
      : Effect.succeed(found)
  })
})

const removeMembers = atOrg("remove", {
  description: "Remove people from a group; they stay in the organization",
  examples: ["coffer group remove backend grace@example.com"],
  options: { name, emails },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const at = { ...path, group_name: options.name }
      const found = yield* findMembers(call, at, options.emails)
      yield* Effect.forEach(found, ({ user_id }) =>
        call("groups", (api) => api.removeMember({ path: { ...at, user_id } }))
      )
      for (const { email, login_ends_at, provider_group } of found) {
        if (provider_group !== undefined && login_ends_at !== undefined) {
          yield* note(
            `${email} stays in the group until ${momentText(login_ends_at)}, as a member of ${provider_group} at the provider`
          )
        }
      }
      return doneView(`${options.emails.join(", ")} removed from the group ${options.name}`)
    })
})

const mappingColumns = {
  "group at the provider": (mapping: GroupMapping) => mapping.provider_group,
  group: (mapping: GroupMapping) => mapping.group
}

const noClaim = "the server takes no groups from its provider: SERVICE_OIDC_GROUPS_CLAIM is not set"

const mappings = atOrg("mappings", {
  description: "List group mappings of the identity provider",
  examples: ["coffer group mappings"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.gen(function* () {
      const found = yield* call("groups", (api) => api.mappings({ path }))
      if (found.claim === null) yield* note(noClaim)
      return listView(found, mappingColumns, "there are no mappings; make one with: coffer group map")
    })
})

const mapped = {
  providerGroup: argument("PROVIDER_GROUP", ProviderGroup, "The group, exactly as the provider's tokens name it"),
  name
}

const map = atOrg("map", {
  description: "Map a group of the identity provider to a group, from each member's next login",
  examples: ["coffer group map platform-team backend"],
  options: mapped,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const mapping = { provider_group: options.providerGroup, group: options.name }
      const { data } = yield* call("groups", (api) => api.mappings({ path }))
      const set = yield* call("groups", (api) => api.setMappings({ path, payload: { mappings: [...data, mapping] } }))
      if (set.claim === null) yield* note(noClaim)
      return doneView(`${mapping.provider_group} at the provider counts as the group ${mapping.group}`, set)
    })
})

const unmap = atOrg("unmap", {
  description: "Remove a group mapping of the identity provider, at once",
  examples: ["coffer group unmap platform-team backend"],
  options: mapped,
  run: ({ call, options: { name: to, providerGroup }, path }) =>
    Effect.gen(function* () {
      const { data } = yield* call("groups", (api) => api.mappings({ path }))
      const rest = data.filter(({ group, provider_group }) => group !== to || provider_group !== providerGroup)
      if (rest.length === data.length) {
        return yield* new NotThere({
          message: `${providerGroup} does not count as the group ${to}${questionAbout(
            providerGroup,
            data.map(({ provider_group }) => provider_group)
          )} coffer group mappings shows what does`
        })
      }
      const set = yield* call("groups", (api) => api.setMappings({ path, payload: { mappings: rest } }))
      return doneView(`${providerGroup} at the provider no longer counts as the group ${to}`, set)
    })
})

export const groupCommand = group("group", "Groups of people, who get access rules together", [
  list,
  create,
  rename,
  remove,
  members,
  add,
  removeMembers,
  mappings,
  map,
  unmap
])
