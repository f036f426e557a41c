import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { EnvironmentNames } from "@coffer/domain/directory/Environment"
import { ProjectName } from "@coffer/domain/base/Names"
import type { Project } from "@coffer/domain/directory/Project"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell } from "../../base/Moments.js"
import { asking, atOrg, atProject, group, wide, yes } from "../../grammar/Command.js"
import { commas, option } from "../../grammar/Fields.js"
import { inProject, type Named, namedProject, optionalProject, projectAndName } from "../../grammar/PlaceArguments.js"
import { flag } from "../../grammar/Specs.js"
import { doneView, listView, recordView } from "../../terminal/View.js"
import { allowPreviews, forbidPreviews, previews } from "./Previews.js"
import { history } from "./ProjectHistory.js"
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
  name: (project: Project) => project.name,
  created: (project: Project) => momentCell(project.created_at)
}

const kindAt = ({ given, path }: { readonly given: CommandLineSettings; readonly path: OrgPath }): Kind => ({
  what: "project",
  restore: (name) => `coffer project restore ${path.org_name}/${name}${serverOption(given)}`,
  list: `coffer project list --removed --org ${path.org_name}${serverOption(given)}`
})

/** The organization of a named project, if it is given. */
const ofOrg = ({ project }: { readonly project: Named<ProjectName> }): CommandLineSettings => project.above

const list = atOrg("list", {
  description: "List the projects",
  examples: ["coffer project list", "coffer project list --json", "coffer project list --removed"],
  options: { removed: removedFlag, wide },
  run: ({ call, given, options, path }) =>
    options.removed
      ? Effect.map(
          call("trash", (api) => api.projects({ path, urlParams: {} })),
          (removed) => removedView(removed, kindAt({ given, path }))
        )
      : Effect.map(
          call("projects", (api) => api.list({ path })),
          (projects) => listView(projects, columns, "there are no projects; make one with: coffer project create NAME")
        )
})

const create = atOrg("create", {
  description: "Create a project, with the environments dev, staging and prod",
  examples: ["coffer project create webshop", "coffer project create acme/webshop"],
  options: { project: namedProject("The new project"), ...asking },
  place: ofOrg,
  run: ({ call, options, path }) =>
    Effect.map(
      call("projects", (api) => api.create({ path, payload: { name: options.project.name } })),
      (made) => doneView(`project ${made.name} created, with the environments dev, staging and prod`, made)
    )
})

const get = atProject("get", {
  description: "Show a project",
  examples: ["coffer project get", "coffer project get webshop"],
  options: { project: optionalProject },
  place: inProject,
  run: ({ call, path }) =>
    Effect.map(
      call("projects", (api) => api.get({ path })),
      ({ order, ...project }) => ({
        ...recordView({ ...project, ...defined({ order: order?.join(", ") }) }),
        json: { ...project, ...defined({ order }) }
      })
    )
})

const rename = atProject("rename", {
  description: "Rename a project: access rules are patterns over names, look at them too",
  examples: ["coffer project rename webshop shop"],
  options: { projects: projectAndName, ...asking },
  check: ({ projects }) =>
    Object.keys(projects.at(-1)?.above ?? {}).length > 0 ? "the new name is a name alone, without a slash" : undefined,
  place: ({ projects: [project, next] }) => inProject({ project: next === undefined ? undefined : project }),
  run: ({ call, options, path }) =>
    Effect.map(
      call("projects", (api) =>
        api.rename({ path, payload: { name: options.projects.at(-1)?.name ?? path.project_name } })
      ),
      (renamed) => doneView(`project ${path.project_name} is now called ${renamed.name}`, renamed)
    )
})

const update = atProject("update", {
  description:
    "Change how strict a project is with values that break their declared pattern, or order its environments",
  examples: [
    "coffer project update --strict",
    "coffer project update webshop --not-strict",
    "coffer project update --order dev,staging,prod"
  ],
  options: {
    project: optionalProject,
    strict: flag("strict", "Refuse a write whose value breaks the pattern that the project declares"),
    notStrict: flag("not-strict", "Warn of such a write, and make it"),
    order: option(
      "order",
      commas(EnvironmentNames, "names of environments"),
      "Environments, separated by commas, in the order of all lists; the others follow"
    ),
    usualOrder: flag("usual-order", "Order the environments by stage and name again")
  },
  check: ({ notStrict, order, strict, usualOrder }) => {
    if (notStrict && strict) return "give either --strict or --not-strict"
    if (usualOrder && order !== undefined) return "give either --order or --usual-order"
    return notStrict || strict || usualOrder || order !== undefined
      ? undefined
      : "give --strict, --not-strict, --order or --usual-order"
  },
  place: inProject,
  run: ({ call, options: { notStrict, order, strict, usualOrder }, path }) => {
    const payload = {
      ...((strict || notStrict) && { strict }),
      ...defined({ order: usualOrder ? [] : order })
    }
    return Effect.map(
      call("projects", (api) => api.rename({ path, payload })),
      (changed) => {
        const { order: ordered = [] } = changed
        const said = [
          ...(strict || notStrict ? [`is ${strict ? "strict" : "not strict"}`] : []),
          ...(order === undefined ? [] : [`orders its environments: ${ordered.join(", ")}`]),
          ...(usualOrder ? ["orders its environments by stage and name"] : [])
        ]
        return doneView(`project ${path.project_name} ${said.join(" and ")}`, changed)
      }
    )
  }
})

const remove = atProject("delete", {
  description: "Delete a project, with everything in it; it can be restored for a while",
  examples: ["coffer project delete webshop"],
  options: { project: optionalProject, yes, ...asking },
  place: inProject,
  run: ({ call, given, options, path }) =>
    Effect.gen(function* () {
      const { project_name } = path
      const question = `This deletes the project ${project_name} with all its environments and secrets.`
      yield* confirmName(question, project_name, options.yes)
      yield* call("projects", (api) => api.delete({ path }))
      yield* noteRestore(
        call("trash", (api) => api.projects({ path, urlParams: { name: project_name } })),
        project_name,
        kindAt({ given, path })
      )
      return doneView(`project ${project_name} deleted`)
    })
})

const removedProject = namedProject("The project that was deleted")

const restore = atOrg("restore", {
  description: "Bring a deleted project back, with everything in it, as it was",
  examples: ["coffer project restore webshop", "coffer project restore webshop --as shop-old"],
  options: {
    project: removedProject,
    as: option("as", ProjectName, "A new name, if its own is in use"),
    id: idOption,
    ...asking
  },
  place: ofOrg,
  run: ({ call, given, options: { as, id, project }, path }) =>
    Effect.gen(function* () {
      const { name } = project
      const list = yield* call("trash", (api) => api.projects({ path, urlParams: { name } }))
      const { id: removed_id } = yield* restorable(list, name, id, kindAt({ given, path }))
      const payload = defined({ name: as })
      const made = yield* call("trash", (api) => api.restoreProject({ path: { ...path, removed_id }, payload }))
      return doneView(`project ${name} restored${made.name === name ? "" : ` as ${made.name}`}`, made)
    })
})

const erase = atOrg("erase", {
  description: "Erase a deleted project for good: nothing brings it back",
  examples: ["coffer project erase shop-old"],
  options: { project: removedProject, id: idOption, yes, ...asking },
  place: ofOrg,
  run: ({ call, given, options: { id, project, yes }, path }) =>
    Effect.gen(function* () {
      const { name } = project
      const list = yield* call("trash", (api) => api.projects({ path, urlParams: { name } }))
      const { id: removed_id } = yield* erasable(list, name, id, kindAt({ given, path }))
      yield* confirmName(`This erases all secrets of the deleted project ${name} for good.`, name, yes)
      yield* call("trash", (api) => api.eraseProject({ path: { ...path, removed_id }, payload: { name } }))
      return doneView(`project ${name} erased`)
    })
})

export const projectCommand = group("project", "Projects of an organization", [
  list,
  create,
  get,
  rename,
  update,
  history,
  previews,
  allowPreviews,
  forbidPreviews,
  remove,
  restore,
  erase
])
