import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { parseServerUrl } from "@coffer/domain/client/ServerUrl"
import { serviceFileName } from "@coffer/domain/client/ServiceFile"
import { BadSetting, defaultServerUrl, variable, Variables } from "@coffer/domain/client/Settings"
import { trustOrigin } from "@coffer/domain/client/TrustedOrigins"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Effect, Either, Option, Schema } from "effect"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { CannotDo } from "../Failures.js"
import { printDone } from "../Output.js"
import { ask, canAsk } from "../Prompts.js"
import { argument, env, org, project, serverUrl } from "./Shared.js"

const address = (text: string) =>
  Either.mapLeft(
    parseServerUrl(text, "flag"),
    ({ message }) => new BadSetting({ message: `the server's address ${message}` })
  )

/** What to write for a key: the flag, else the variable, else what a person answers; nothing where nobody knows. */
const settle = Effect.fnUntraced(function* <A>(
  key: string,
  flag: Option.Option<string>,
  variableName: string,
  schema: Schema.Schema<A, string>
) {
  const variables = yield* Variables
  const known = Option.getOrUndefined(flag) ?? variable(variables, variableName)
  const text = known ?? (canAsk() ? yield* ask(`${key} (empty to leave it out): `) : "")
  if (text === "") return []
  const name = yield* Either.mapLeft(
    Schema.decodeEither(schema)(text),
    ({ message }) => new BadSetting({ message: `${JSON.stringify(text)}: ${message}` })
  )
  // Quoted, so that a name such as 123 or null is a text to every reader of YAML.
  return [`${key}: ${JSON.stringify(name)}\n`]
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
      new CannotDo({
        message:
          cause instanceof Error && "code" in cause && cause.code === "EEXIST"
            ? `${path} is there already; to write it anew, add --force`
            : `${path} cannot be written; check the directory's permissions`
      })
  })

const force = Options.boolean("force").pipe(Options.withDescription(`Overwrite a ${serviceFileName} that is there`))

const init = Command.make("init", { serverUrl, org, project, env, force }, (options) =>
  Effect.gen(function* () {
    const variables = yield* Variables
    const url =
      Option.getOrUndefined(options.serverUrl) ?? variable(variables, "SERVICE_SERVER_URL") ?? defaultServerUrl
    const server = yield* address(url)
    const lines = [
      `server_url: ${JSON.stringify(server.base)}\n`,
      ...(yield* settle("org", options.org, "SERVICE_ORG", OrgName)),
      ...(yield* settle("project", options.project, "SERVICE_PROJECT", ProjectName)),
      ...(yield* settle("env", options.env, "SERVICE_ENV", EnvName))
    ]
    const path = resolve(serviceFileName)
    yield* writeNew(path, lines.join(""), options.force)
    yield* trustOrigin(server.origin)
    yield* printDone(`wrote ${path}`, false)
  })
).pipe(
  Command.withDescription(
    `Write ${serviceFileName} here, with the settings of this directory. Example: coffer init --org acme --project webshop --env dev`
  )
)

const url = argument("URL", Schema.NonEmptyString.pipe(Schema.pattern(/^[^-]/)), "The server's address")

const trust = Command.make("trust", { url }, (options) =>
  Effect.gen(function* () {
    const { origin } = yield* address(options.url)
    yield* trustOrigin(origin)
    yield* printDone(`${origin} is trusted: API keys go there even when only ${serviceFileName} names it`, false)
  })
).pipe(
  Command.withDescription(
    `Let API keys go to a server that only ${serviceFileName} names. Example: coffer trust https://coffer.example.com`
  )
)

/** What one does once in a directory or on a machine. */
export const setupCommands = [init, trust] as const
