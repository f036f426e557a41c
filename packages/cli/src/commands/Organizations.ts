import { defined } from "@coffer/domain/Defined"
import { OrgName } from "@coffer/domain/Names"
import type { Organization } from "@coffer/domain/Organization"
import type { Overview, ProjectOverview } from "@coffer/domain/Overview"
import { maxPageSize } from "@coffer/domain/Schemas"
import * as Effect from "effect/Effect"
import { asking, atOrg, atServer, group, wide, yes } from "../grammar/Command.js"
import { argument } from "../grammar/Fields.js"
import { confirm } from "../terminal/Prompts.js"
import { doneView, listView, recordView } from "../terminal/View.js"
import { exportCommands } from "./organizations/Export.js"
import { importCommand } from "./organizations/Import.js"

const columns = {
  name: (org: Organization) => org.name,
  role: (org: Organization) => org.role,
  created: (org: Organization) => org.created_at
}

const list = atServer("list", {
  description: "List your organizations",
  examples: ["coffer org list", "coffer org list --json"],
  options: { wide },
  run: ({ call }) =>
    Effect.map(
      call("organizations", (api) => api.list({})),
      (orgs) => listView(orgs, columns, "you are in no organization; make one with: coffer org create NAME")
    )
})

const create = atServer("create", {
  description: "Create an organization; you become its owner",
  examples: ["coffer org create acme"],
  options: { name: argument("NAME", OrgName, "The organization's name"), ...asking },
  run: ({ call, options }) =>
    Effect.map(
      call("organizations", (api) => api.create({ payload: { name: options.name } })),
      (made) => doneView(`organization ${made.name} created`, made)
    )
})

const get = atOrg("get", {
  description: "Show the organization",
  examples: ["coffer org get --org acme"],
  options: {},
  run: ({ call, path }) =>
    Effect.map(
      call("organizations", (api) => api.get({ path })),
      recordView
    )
})

const projectColumns = {
  project: ({ project }: ProjectOverview) => project,
  environments: ({ environments }: ProjectOverview) => environments,
  keys: ({ keys }: ProjectOverview) => keys,
  changed: ({ changed_at }: ProjectOverview) => changed_at ?? undefined,
  by: ({ changed_by }: ProjectOverview) => changed_by ?? undefined
}

const overview = atOrg("overview", {
  description: "Show how much is in each project that you may see, and its last change",
  examples: ["coffer org overview", "coffer org overview --json"],
  options: {},
  run: ({ call, path }) =>
    Effect.gen(function* () {
      const data: Array<ProjectOverview> = []
      for (let after: string | null | undefined = undefined; after !== null;) {
        const urlParams = { limit: maxPageSize, ...defined({ after }) }
        const page: Overview = yield* call("overview", (api) => api.show({ path, urlParams }))
        data.push(...page.data)
        after = page.pagination.next_cursor
      }
      return listView({ data }, projectColumns, "there are no projects; make one with: coffer project create NAME")
    })
})

const rename = atOrg("rename", {
  description: "Rename the organization",
  examples: ["coffer org rename acme-inc"],
  options: { newName: argument("NEW", OrgName, "The new name"), ...asking },
  run: ({ call, options, path }) =>
    Effect.map(
      call("organizations", (api) => api.update({ path, payload: { name: options.newName } })),
      (renamed) => doneView(`organization ${path.org_name} is now called ${renamed.name}`, renamed)
    )
})

const remove = atOrg("delete", {
  description: "Delete the organization, with everything in it",
  examples: ["coffer org delete --org acme"],
  options: { yes, ...asking },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Delete the organization ${path.org_name} with all its projects and secrets?`, options.yes)
      yield* call("organizations", (api) => api.delete({ path }))
      return doneView(`organization ${path.org_name} deleted`)
    })
})

export const orgCommand = group("org", "Organizations", [
  list,
  create,
  get,
  overview,
  rename,
  ...exportCommands,
  importCommand,
  remove
])
