import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { ProjectName } from "@coffer/domain/Names"
import type { Project } from "@coffer/domain/Project"
import { Effect, Option } from "effect"
import { printDone, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { argument, atOrg, atProject, connect, settingsOf, yes } from "./Shared.js"

const columns = {
  name: (project: Project) => project.name,
  created: (project: Project) => project.created_at
}

const list = Command.make("list", atOrg, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const projects = yield* client.call("projects", (api) => api.list({ path }))
    yield* printList(
      projects,
      options.json,
      columns,
      "there are no projects; make one with: coffer project create NAME"
    )
  })
).pipe(Command.withDescription("List the projects. Example: coffer project list --json"))

const name = argument("NAME", ProjectName, "The project's name")

/** The project that is named as an argument, else the one that the settings name. */
const settingsFor = (options: Parameters<typeof settingsOf>[0], named: Option.Option<ProjectName>) =>
  settingsOf(Option.isSome(named) ? { ...options, project: named } : options)

const create = Command.make("create", { ...atOrg, name }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const made = yield* client.call("projects", (api) => api.create({ path, payload: { name: options.name } }))
    if (options.json) return yield* printRecord(made, true)
    yield* printDone(`project ${made.name} created, with the environments dev, staging and prod`, false)
  })
).pipe(
  Command.withDescription(
    "Create a project, with the environments dev, staging and prod. Example: coffer project create webshop"
  )
)

const named = Args.optional(name)

const get = Command.make("get", { ...atProject, named }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsFor(options, options.named)
    const path = yield* settings.projectPath
    const client = yield* connect(yield* settings.server)
    yield* printRecord(yield* client.call("projects", (api) => api.get({ path })), options.json)
  })
).pipe(Command.withDescription("Show a project. Example: coffer project get webshop"))

const names = argument(
  "NAME",
  ProjectName,
  "The project's name, where it is not the configured one, and the new name"
).pipe(Args.between(1, 2))

const rename = Command.make("rename", { ...atProject, names }, (options) =>
  Effect.gen(function* () {
    const [first, second] = options.names
    const newName = second ?? first
    const settings = yield* settingsFor(options, second === undefined ? Option.none() : Option.some(first))
    const path = yield* settings.projectPath
    const client = yield* connect(yield* settings.server)
    const renamed = yield* client.call("projects", (api) => api.rename({ path, payload: { name: newName } }))
    if (options.json) return yield* printRecord(renamed, true)
    yield* printDone(`project ${path.project_name} is now called ${renamed.name}`, false)
  })
).pipe(
  Command.withDescription(
    "Rename a project: access rules are patterns over names, look at them too. Example: coffer project rename webshop shop"
  )
)

const remove = Command.make("delete", { ...atProject, named, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsFor(options, options.named)
    const path = yield* settings.projectPath
    const client = yield* connect(yield* settings.server)
    yield* confirm(`Delete the project ${path.project_name} with all its environments and secrets?`, options.yes)
    yield* client.call("projects", (api) => api.delete({ path }))
    yield* printDone(`project ${path.project_name} deleted`, options.json)
  })
).pipe(Command.withDescription("Delete a project, with everything in it. Example: coffer project delete webshop"))

export const projectCommand = Command.make("project").pipe(
  Command.withDescription("Projects of an organization"),
  Command.withSubcommands([list, create, get, rename, remove])
)
