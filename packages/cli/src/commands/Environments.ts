import * as Command from "@effect/cli/Command"
import type { Environment } from "@coffer/domain/Environment"
import { EnvName } from "@coffer/domain/Names"
import { Effect, Option } from "effect"
import { printDone, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { copyCommand, diffCommand } from "./Promotion.js"
import { revertCommand, revisionsCommand } from "./Revisions.js"
import { argument, atProject, connect, settingsOf, yes } from "./Shared.js"

const columns = {
  name: (environment: Environment) => environment.name,
  created: (environment: Environment) => environment.created_at
}

const list = Command.make("list", atProject, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.projectPath
    const client = yield* connect(yield* settings.server)
    const environments = yield* client.call("environments", (api) => api.list({ path }))
    yield* printList(
      environments,
      options.json,
      columns,
      "there are no environments; make one with: coffer env create NAME"
    )
  })
).pipe(Command.withDescription("List the environments. Example: coffer environment list --json"))

const name = argument("NAME", EnvName, "The environment's name")

const create = Command.make("create", { ...atProject, name }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.projectPath
    const client = yield* connect(yield* settings.server)
    const made = yield* client.call("environments", (api) => api.create({ path, payload: { name: options.name } }))
    yield* options.json ? printRecord(made, true) : printDone(`environment ${made.name} created`, false)
  })
).pipe(Command.withDescription("Create an environment. Example: coffer environment create qa"))

const remove = Command.make("delete", { ...atProject, name, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf({ ...options, env: Option.some(options.name) })
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    yield* confirm(`Delete the environment ${path.env_name} of ${path.project_name} with all its secrets?`, options.yes)
    yield* client.call("environments", (api) => api.delete({ path }))
    yield* printDone(`environment ${path.env_name} deleted`, options.json)
  })
).pipe(Command.withDescription("Delete an environment, with its secrets. Example: coffer environment delete qa"))

const subcommands = [list, create, remove, diffCommand, copyCommand, revisionsCommand, revertCommand] as const

export const environmentCommand = Command.make("environment").pipe(
  Command.withDescription("Environments of a project"),
  Command.withSubcommands(subcommands)
)

export const envCommand = Command.make("env").pipe(
  Command.withDescription("The same as environment"),
  Command.withSubcommands(subcommands)
)
