import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import { defined } from "@coffer/domain/base/Defined"
import { OrgName } from "@coffer/domain/base/Names"
import type { Organization } from "@coffer/domain/directory/Organization"
import type { Overview, ProjectOverview } from "@coffer/domain/secrets/Overview"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { momentCell } from "../../base/Moments.js"
import { asking, atOrg, atServer, group, wide, yes } from "../../grammar/Command.js"
import { argument, option, optionalArgument } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { note } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, recordView } from "../../terminal/View.js"
import { edit } from "./OrganizationEdit.js"
import { exportCommands } from "./OrganizationExport.js"
import { importCommand } from "./OrganizationImport.js"
import {
  confirmName,
  erasable,
  idOption,
  type Kind,
  noteRestore,
  removedFlag,
  removedView,
  restorable,
  serverOption
} from "../trash/Trash.js"

const columns = {
  name: (org: Organization) => org.name,
  role: (org: Organization) => org.role,
  created: (org: Organization) => momentCell(org.created_at)
}

const kindAt = (given: CommandLineSettings): Kind => ({
  what: "organization",
  restore: (name) => `coffer org restore ${name}${serverOption(given)}`,
  list: `coffer org list --removed${serverOption(given)}`
})

/** How many invitations are named. Anybody may invite anybody. */
const maxNamed = 3

const noteInvitations = (invited: ReadonlyArray<Organization>) =>
  Effect.forEach(
    [
      ...invited
        .slice(0, maxNamed)
        .map(
          ({ name }) =>
            `you were invited to ${name}: its first use accepts that; to decline: coffer org leave --org ${name}`
        ),
      ...(invited.length > maxNamed ? [`you were invited to ${invited.length - maxNamed} more organizations`] : [])
    ],
    note,
    { discard: true }
  )

const list = atServer("list", {
  description: "List your organizations",
  examples: ["coffer org list", "coffer org list --json", "coffer org list --removed"],
  options: { removed: removedFlag, wide },
  run: ({ call, given, options }) =>
    options.removed
      ? Effect.map(
          call("trash", (api) => api.organizations({ urlParams: {} })),
          (removed) => removedView(removed, kindAt(given))
        )
      : Effect.map(
          Effect.tap(
            call("organizations", (api) => api.list({})),
            ({ data }) => noteInvitations(data.filter(({ accepted }) => accepted === false))
          ),
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
  changed: ({ changed_at }: ProjectOverview) => momentCell(changed_at),
  by: ({ changed_by }: ProjectOverview) => changed_by ?? undefined
}

const overview = atOrg("overview", {
  description: "Show how much is in each project that you may see, and its last change",
  examples: ["coffer org overview", "coffer org overview --json"],
  options: {},
  run: ({ call, path }) =>
    Effect.gen(function* () {
      const data: Array<ProjectOverview> = []
      let facts: Omit<Overview, "data" | "pagination" | "projects"> = {}
      for (let after: string | null | undefined = undefined; after !== null;) {
        const urlParams = { limit: maxPageSize, ...defined({ after }) }
        const page: Overview = yield* call("overview", (api) => api.show({ path, urlParams }))
        data.push(...page.data)
        const { due, failing_webhooks, more_due, waiting } = page
        // Only the first page has what is due and what waits.
        facts = { ...facts, ...defined({ due, failing_webhooks, more_due, waiting }) }
        after = page.pagination.next_cursor
      }
      const { due = [], failing_webhooks = 0, more_due = false, waiting = 0 } = facts
      const secrets = `${due.length}${more_due ? " secrets or more are" : due.length === 1 ? " secret is" : " secrets are"}`
      if (due.length > 0) yield* note(`${secrets} overdue, or due within 14 days: coffer secret due`)
      if (waiting > 0) {
        yield* note(`${waiting === 1 ? "1 request waits" : `${waiting} requests wait`} for you: coffer request list`)
      }
      if (failing_webhooks > 0) {
        const fail = failing_webhooks === 1 ? "1 webhook fails" : `${failing_webhooks} webhooks fail`
        yield* note(`${fail}: coffer webhook list`)
      }
      return listView(
        { ...facts, data },
        projectColumns,
        "there are no projects; make one with: coffer project create NAME"
      )
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
  description: "Delete the organization, with everything in it; it can be restored for a while",
  examples: ["coffer org delete acme"],
  options: {
    name: completedBy(
      "org",
      optionalArgument("NAME", OrgName, "The organization's name, where it is not the configured one")
    ),
    yes,
    ...asking
  },
  place: ({ name }) => defined({ org: name }),
  run: ({ call, given, options, path }) =>
    Effect.gen(function* () {
      const { org_name } = path
      const question = `This deletes the organization ${org_name} with all its projects and secrets.`
      yield* confirmName(question, org_name, options.yes)
      yield* call("organizations", (api) => api.delete({ path }))
      yield* noteRestore(
        call("trash", (api) => api.organizations({ urlParams: { name: org_name } })),
        org_name,
        kindAt(given)
      )
      return doneView(`organization ${org_name} deleted`)
    })
})

const removedName = argument("NAME", OrgName, "The name that the deleted organization had")

const restore = atServer("restore", {
  description: "Bring a deleted organization back, with everything in it, as it was",
  examples: ["coffer org restore acme", "coffer org restore acme --as acme-old"],
  options: { name: removedName, as: option("as", OrgName, "A new name, if its own is in use"), id: idOption },
  run: ({ call, given, options: { as, id, name } }) =>
    Effect.gen(function* () {
      const list = yield* call("trash", (api) => api.organizations({ urlParams: { name } }))
      const { id: removed_id } = yield* restorable(list, name, id, kindAt(given))
      const payload = defined({ name: as })
      const made = yield* call("trash", (api) => api.restoreOrganization({ path: { removed_id }, payload }))
      return doneView(`organization ${name} restored${made.name === name ? "" : ` as ${made.name}`}`, made)
    })
})

const erase = atServer("erase", {
  description: "Erase a deleted organization for good: nothing brings it back",
  examples: ["coffer org erase acme-old"],
  options: { name: removedName, id: idOption, yes },
  run: ({ call, given, options: { id, name, yes } }) =>
    Effect.gen(function* () {
      const list = yield* call("trash", (api) => api.organizations({ urlParams: { name } }))
      const { id: removed_id } = yield* erasable(list, name, id, kindAt(given))
      yield* confirmName(`This erases all secrets of the deleted organization ${name} for good.`, name, yes)
      yield* call("trash", (api) => api.eraseOrganization({ path: { removed_id }, payload: { name } }))
      return doneView(`organization ${name} erased`)
    })
})

const leave = atOrg("leave", {
  description: "Leave the organization, or decline the invitation to it",
  examples: ["coffer org leave --org acme"],
  options: { yes },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(
        `Leave the organization ${path.org_name}? Your rules, groups and delegations there end; only its admins can let you in again`,
        options.yes
      )
      yield* call("members", (api) => api.leave({ path }))
      return doneView(`you have left the organization ${path.org_name}`)
    })
})

export const orgCommand = group("org", "Organizations", [
  list,
  create,
  get,
  overview,
  rename,
  edit,
  leave,
  ...exportCommands,
  importCommand,
  remove,
  restore,
  erase
])
