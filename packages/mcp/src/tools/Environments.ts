import { Environment } from "@coffer/domain/directory/Environment"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { adds, reads, removes } from "../Hints.js"
import { pages } from "../Pages.js"
import { changing, parameters, tool } from "../Tool.js"
import { removed, restorableBy } from "./Removed.js"

export const envCreate = tool({
  name: "env_create",
  action: "env.create",
  title: "Create an environment",
  description:
    "Creates an environment in a project, without secrets. Returns the environment. " +
    "Use it when the user wants another stage beside those that env_list lists.",
  hints: adds,
  parameters: parameters({ name: EnvName }),
  at: "project",
  about: ({ name }) => ({ env: name }),
  output: Environment,
  run: (call, path, { name }) => call("environments", (api) => api.create({ path, payload: { name } }))
})

const environments = pages({
  item: Environment.pick("name", "created_at"),
  nameOf: ({ name }) => name,
  by: "name",
  size: 60
})

export const envList = tool({
  name: "env_list",
  title: "List environments",
  description: "Returns the environments of a project. Use it to find the name to pass as env in the other tools.",
  hints: reads,
  parameters: parameters(environments.parameters),
  at: "project",
  output: environments.output,
  run: (call, path, parameters) =>
    call("environments", (api) => api.list({ path })).pipe(
      Effect.map(({ data }) => environments.page(data, parameters))
    )
})

export const envDelete = tool({
  name: "env_delete",
  action: "env.delete",
  title: "Delete an environment",
  description:
    "Removes an environment with all its secrets. Returns what was removed, and how a person restores it: tell the user. " +
    "Use it only when the user has named this very environment to be deleted.",
  hints: removes,
  parameters: changing({ name: EnvName }),
  at: "project",
  about: ({ name }) => ({ env: name }),
  confirm: ({ org_name, project_name }, { name }) =>
    `Delete the environment ${org_name}/${project_name}/${name}, with all its secrets?`,
  output: removed({ org: OrgName, project: ProjectName, env: EnvName }),
  run: (call, path, { name }) =>
    call("environments", (api) => api.delete({ path: { ...path, env_name: name }, urlParams: {} })).pipe(
      Effect.zipRight(
        restorableBy(
          call("trash", (api) => api.environments({ path, urlParams: { name } })),
          `coffer env restore ${path.org_name}/${path.project_name}/${name}`
        )
      ),
      Effect.map((restoring) => ({
        org: path.org_name,
        project: path.project_name,
        env: name,
        deleted: true as const,
        ...restoring
      }))
    )
})
