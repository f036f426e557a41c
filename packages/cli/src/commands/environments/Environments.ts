import type { Environment } from "@coffer/domain/Environment"
import { inStageOrder } from "@coffer/domain/EnvironmentOrder"
import { EnvName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { asking, atProject, group, wide, yes } from "../../grammar/Command.js"
import { argument, flag } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { copy, diff } from "./Promotion.js"
import { protect, protection, unprotect } from "./Protection.js"
import { revert, revisions } from "./Revisions.js"

const columns = {
  name: (environment: Environment) => environment.name,
  created: (environment: Environment) => environment.created_at
}

const list = atProject("list", {
  description: "List the environments",
  examples: ["coffer environment list", "coffer env list --json"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("environments", (api) => api.list({ path })),
      (response) =>
        listView(
          { ...response, data: inStageOrder(response.data) },
          columns,
          "there are no environments; make one with: coffer env create NAME"
        )
    )
})

const name = argument("NAME", EnvName, "The environment's name")

const create = atProject("create", {
  description: "Create an environment",
  examples: ["coffer environment create qa"],
  options: { name },
  run: ({ call, options, path }) =>
    Effect.map(
      call("environments", (api) => api.create({ path, payload: { name: options.name } })),
      (made) => doneView(`environment ${made.name} created`, made)
    )
})

const remove = atProject("delete", {
  description: "Delete an environment, with its secrets",
  examples: ["coffer environment delete qa"],
  options: {
    name: completedBy("env", argument("NAME", EnvName, "The environment's name")),
    yes,
    force: flag("force", "Also if secrets of other environments refer to its secrets, which then cannot be read"),
    ...asking
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const question = `Delete the environment ${options.name} of ${path.project_name} with all its secrets?`
      yield* confirm(question, options.yes)
      yield* call("environments", (api) =>
        api.delete({ path: { ...path, env_name: options.name }, urlParams: options.force ? { force: true } : {} })
      )
      return doneView(`environment ${options.name} deleted`)
    })
})

export const environmentCommand = group(
  "environment",
  "Environments of a project",
  [list, create, remove, diff, copy, revisions, revert, protection, protect, unprotect],
  "env"
)
