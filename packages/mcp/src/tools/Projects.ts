import { OrgName, ProjectName } from "@coffer/domain/base/Names"
import { Project } from "@coffer/domain/directory/Project"
import * as Effect from "effect/Effect"
import { adds, reads, removes } from "../Hints.js"
import { pages } from "../Pages.js"
import { changing, parameters, tool } from "../Tool.js"
import { removed, restorableBy } from "./Removed.js"

export const projectCreate = tool({
  name: "project_create",
  action: "project.create",
  title: "Create a project",
  description:
    "Creates a project with the environments dev, staging and prod. Returns the project. " +
    "Use it when the user wants a new place for secrets; project_list lists the existing ones.",
  hints: adds,
  parameters: parameters({ name: ProjectName }),
  at: "org",
  about: ({ name }) => ({ project: name }),
  output: Project,
  run: (call, path, { name }) => call("projects", (api) => api.create({ path, payload: { name } }))
})

const projects = pages({
  item: Project.pick("name", "created_at"),
  nameOf: ({ name }) => name,
  by: "name",
  size: 60
})

export const projectList = tool({
  name: "project_list",
  title: "List projects",
  description:
    "Returns the projects of an organization. Use it to find the name to pass as project in the other tools.",
  hints: reads,
  parameters: parameters(projects.parameters),
  at: "org",
  output: projects.output,
  run: (call, path, parameters) =>
    call("projects", (api) => api.list({ path })).pipe(Effect.map(({ data }) => projects.page(data, parameters)))
})

export const projectDelete = tool({
  name: "project_delete",
  action: "project.delete",
  title: "Delete a project",
  description:
    "Removes a project with all its environments and secrets. Returns what was removed, and how a person restores it: tell the user. " +
    "Use it only when the user has named this very project to be deleted.",
  hints: removes,
  parameters: changing({ name: ProjectName }),
  at: "org",
  about: ({ name }) => ({ project: name }),
  confirm: ({ org_name }, { name }) => `Delete the project ${org_name}/${name}, with all its environments and secrets?`,
  output: removed({ org: OrgName, project: ProjectName }),
  run: (call, path, { name }) =>
    call("projects", (api) => api.delete({ path: { ...path, project_name: name } })).pipe(
      Effect.zipRight(
        restorableBy(
          call("trash", (api) => api.projects({ path, urlParams: { name } })),
          `coffer project restore ${path.org_name}/${name}`
        )
      ),
      Effect.map((restoring) => ({ org: path.org_name, project: name, deleted: true as const, ...restoring }))
    )
})
