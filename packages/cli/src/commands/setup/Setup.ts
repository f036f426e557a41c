import { parseServerUrl } from "@coffer/domain/client/ServerUrl"
import { serviceFileName } from "@coffer/domain/client/ServiceFile"
import { BadSetting, defaultServerUrl, variable, Variables } from "@coffer/domain/client/Settings"
import { trustOrigin } from "@coffer/domain/client/TrustedOrigins"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Effect, Either, Schema } from "effect"
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { CannotDo } from "../../Failures.js"
import { command, env, org, placeGiven, project, serverUrl } from "../../grammar/Command.js"
import { argument, flag } from "../../grammar/Fields.js"
import { printLine } from "../../terminal/Print.js"
import { ask, canAsk } from "../../terminal/Prompts.js"
import { checkNames } from "./NameCheck.js"

const address = (text: string) =>
  Either.mapLeft(
    parseServerUrl(text, "flag"),
    ({ message }) => new BadSetting({ message: `the server's address ${message}` })
  )

/** The name for a key: the option, else the variable, else what a person answers. */
const settle = Effect.fnUntraced(function* <A>(
  key: string,
  given: string | undefined,
  variableName: string,
  schema: Schema.Schema<A, string>
) {
  const variables = yield* Variables
  const known = given ?? variable(variables, variableName)
  const text = known ?? ((yield* canAsk) ? yield* ask(`${key} (empty to leave it out): `) : "")
  if (text === "") return undefined
  return yield* Either.mapLeft(
    Schema.decodeEither(schema)(text),
    ({ message }) => new BadSetting({ message: `${JSON.stringify(text)}: ${message}` })
  )
})

const writeNew = (path: string, text: string, force: boolean) =>
  Effect.try({
    try: () => {
      if (!force) return writeFileSync(path, text, { flag: "wx" })
      const temporary = `${path}.new`
      rmSync(temporary, { force: true })
      writeFileSync(temporary, text, { flag: "wx" })
      renameSync(temporary, path)
    },
    catch: (cause) =>
      cause instanceof Error && "code" in cause && cause.code === "EEXIST"
        ? alreadyThere(path)
        : new CannotDo({ message: `${path} cannot be written; check the directory's permissions` })
  })

const alreadyThere = (path: string) =>
  new CannotDo({ message: `${path} is there already; to overwrite it, add --force` })

const init = command("init", {
  description: `Write ${serviceFileName} here, with the settings of this directory`,
  examples: ["coffer init --org acme --project webshop --env dev", "coffer init --org acme --force"],
  options: { serverUrl, org, project, env, force: flag("force", `Overwrite an existing ${serviceFileName}`) },
  run: (options) =>
    Effect.gen(function* () {
      const path = resolve(serviceFileName)
      // Before any question is asked.
      if (!options.force && existsSync(path)) return yield* alreadyThere(path)
      const place = yield* placeGiven(options)
      const variables = yield* Variables
      const given = options.serverUrl ?? variable(variables, "SERVICE_SERVER_URL")
      const server = yield* address(given ?? defaultServerUrl)
      const names = {
        org: yield* settle("org", place.org, "SERVICE_ORG", OrgName),
        project: yield* settle("project", place.project, "SERVICE_PROJECT", ProjectName),
        env: yield* settle("env", place.env, "SERVICE_ENV", EnvName)
      }
      yield* checkNames(server, names)
      const lines = Object.entries({ server_url: server.base, ...names }).flatMap(([key, text]) =>
        // Quoted, so that every reader of YAML takes a name such as 123 or null for a text.
        text === undefined ? [] : [`${key}: ${JSON.stringify(text)}\n`]
      )
      yield* writeNew(path, lines.join(""), options.force)
      yield* trustOrigin(server.origin)
      yield* printLine(`wrote ${path}`)
    })
})

const trust = command("trust", {
  description: `Let API keys go to a server that only ${serviceFileName} names`,
  examples: ["coffer trust https://coffer.example.com"],
  options: { url: argument("URL", Schema.NonEmptyString, "The server's address") },
  run: ({ url }) =>
    Effect.gen(function* () {
      const { origin } = yield* address(url)
      yield* trustOrigin(origin)
      yield* printLine(`${origin} is trusted: API keys go there even when only ${serviceFileName} names it`)
    })
})

export const setupCommands = [init, trust] as const
