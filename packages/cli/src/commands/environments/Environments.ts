import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import type { ProjectPath } from "@coffer/domain/api/Paths"
import type { Environment } from "@coffer/domain/directory/Environment"
import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell, momentText } from "../../base/Moments.js"
import { asking, atProject, group, wide, yes } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import {
  aboveBoth,
  aboveOf,
  apart,
  existingEnv,
  inProject,
  namedEnv,
  optionalEnv,
  optionalProject
} from "../../grammar/PlaceArguments.js"
import { flag } from "../../grammar/Specs.js"
import { endOf, lasting, oldEnd } from "../../grammar/Times.js"
import { doneView, listView } from "../../terminal/View.js"
import { until } from "../access/Expires.js"
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
import { keysOption } from "../secrets/KeyArguments.js"
import { copy, diff } from "./Promotion.js"
import { protect, protection, unprotect } from "./Protection.js"
import { revert, revisions } from "./Revisions.js"

const ends = { ends: (environment: Environment) => momentCell(environment.expires_at) }

/** The ends are shown if there are any. */
const columnsOf = (environments: ReadonlyArray<Environment>) => ({
  name: (environment: Environment) => environment.name,
  ...(environments.some(({ expires_at }) => expires_at !== undefined) && ends),
  created: (environment: Environment) => momentCell(environment.created_at)
})

const kindAt = ({ given, path }: { readonly given: CommandLineSettings; readonly path: ProjectPath }): Kind => ({
  what: "environment",
  restore: (name) => `coffer env restore ${path.org_name}/${path.project_name}/${name}${serverOption(given)}`,
  list: `coffer env list ${path.org_name}/${path.project_name} --removed${serverOption(given)}`
})

const list = atProject("list", {
  description: "List the environments",
  examples: ["coffer environment list", "coffer env list webshop --json", "coffer env list --removed"],
  options: { project: optionalProject, removed: removedFlag, wide },
  place: inProject,
  run: ({ call, given, options, path }) => {
    if (options.removed) {
      return Effect.map(
        call("trash", (api) => api.environments({ path, urlParams: {} })),
        (removed) => removedView(removed, kindAt({ given, path }))
      )
    }
    return Effect.map(
      call("environments", (api) => api.list({ path })),
      (response) =>
        listView(
          { ...response, data: inStageOrder(response.data) },
          columnsOf(response.data),
          "there are no environments; make one with: coffer env create NAME"
        )
    )
  }
})

const create = atProject("create", {
  description: "Create an environment, empty or as a copy of another, without showing a value",
  examples: ["coffer environment create qa", "coffer env create webshop/pr-42 --from preview --for 7d"],
  options: {
    env: namedEnv("The new environment"),
    from: optionalEnv("from", "The environment of the project whose secrets it starts with"),
    only: keysOption("only", "Only these keys, separated by commas"),
    end: lasting("it lasts before it is removed", oldEnd("expires")),
    ...asking
  },
  place: ({ env, from }) => (from === undefined ? aboveOf({ env }) : aboveBoth({ from, to: env })),
  check: ({ env, from, only }) => {
    if (from !== undefined) return apart({ from, to: env })
    return only === undefined ? undefined : "--only needs --from, the environment to copy from"
  },
  run: ({ call, options: { end, env, from: source, only: keys }, path }) =>
    Effect.gen(function* () {
      const { name } = env
      const from = source?.name
      const expires_at = end === undefined ? undefined : yield* endOf(end)
      const payload = { name, ...defined({ from, keys, expires_at }) }
      const made = yield* call("environments", (api) => api.create({ path, payload }))
      return doneView(
        `environment ${made.name} created${from === undefined ? "" : ` from ${from}`}${until(made)}`,
        made
      )
    })
})

const extend = atProject("extend", {
  description: "Set when an environment ends",
  examples: ["coffer environment extend pr-42 --for 7d", "coffer env extend pr-42 --never"],
  options: {
    env: existingEnv("The environment"),
    end: lasting("it lasts before it is removed", oldEnd("expires")),
    never: flag("never", "Let it last; for admins"),
    ...asking
  },
  place: aboveOf,
  check: ({ end, never }) => (never === (end === undefined) ? undefined : "give one of --for, --until and --never"),
  run: ({ call, options: { end, env, never }, path: project }) =>
    Effect.gen(function* () {
      const path = { ...project, env_name: env.name }
      const expires_at = end === undefined || never ? null : yield* endOf(end)
      const set = yield* call("environments", (api) => api.extend({ path, payload: { expires_at } }))
      return doneView(
        `environment ${set.name} ${set.expires_at === undefined ? "has no end" : `ends at ${momentText(set.expires_at)}`}`,
        set
      )
    })
})

const remove = atProject("delete", {
  description: "Delete an environment, with its secrets; it can be restored for a while",
  examples: ["coffer environment delete qa"],
  options: {
    env: existingEnv("The environment"),
    yes,
    force: flag("force", "Also if secrets of other environments refer to its secrets, which then cannot be read"),
    ...asking
  },
  place: aboveOf,
  run: ({ call, given, options: { env, force, yes }, path }) =>
    Effect.gen(function* () {
      const { name } = env
      const question = `This deletes the environment ${name} of ${path.project_name} with all its secrets.`
      yield* confirmName(question, name, yes)
      yield* call("environments", (api) =>
        api.delete({ path: { ...path, env_name: name }, urlParams: force ? { force: true } : {} })
      )
      yield* noteRestore(
        call("trash", (api) => api.environments({ path, urlParams: { name } })),
        name,
        kindAt({ given, path })
      )
      return doneView(`environment ${name} deleted`)
    })
})

const removedEnv = namedEnv("The environment that was deleted")

const restore = atProject("restore", {
  description: "Bring a deleted environment back, as it was",
  examples: ["coffer environment restore qa", "coffer env restore qa --as qa-old"],
  options: {
    env: removedEnv,
    as: option("as", EnvName, "A new name, if its own is in use"),
    id: idOption,
    ...asking
  },
  place: aboveOf,
  run: ({ call, given, options: { as, env, id }, path }) =>
    Effect.gen(function* () {
      const { name } = env
      const list = yield* call("trash", (api) => api.environments({ path, urlParams: { name } }))
      const { id: removed_id } = yield* restorable(list, name, id, kindAt({ given, path }))
      const payload = defined({ name: as })
      const made = yield* call("trash", (api) => api.restoreEnvironment({ path: { ...path, removed_id }, payload }))
      return doneView(`environment ${name} restored${made.name === name ? "" : ` as ${made.name}`}${until(made)}`, made)
    })
})

const erase = atProject("erase", {
  description: "Erase a deleted environment for good: nothing brings it back",
  examples: ["coffer environment erase qa-old"],
  options: { env: removedEnv, id: idOption, yes, ...asking },
  place: aboveOf,
  run: ({ call, given, options: { env, id, yes }, path }) =>
    Effect.gen(function* () {
      const { name } = env
      const list = yield* call("trash", (api) => api.environments({ path, urlParams: { name } }))
      const { id: removed_id } = yield* erasable(list, name, id, kindAt({ given, path }))
      yield* confirmName(`This erases all secrets of the deleted environment ${name} for good.`, name, yes)
      yield* call("trash", (api) => api.eraseEnvironment({ path: { ...path, removed_id }, payload: { name } }))
      return doneView(`environment ${name} erased`)
    })
})

export const environmentCommand = group(
  "environment",
  "Environments of a project",
  [list, create, extend, remove, restore, erase, diff, copy, revisions, revert, protection, protect, unprotect],
  "env"
)
