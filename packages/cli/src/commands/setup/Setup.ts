import type { HelperRule } from "@coffer/client/internal/HelperRules"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { parseServerUrl, type ServerUrl } from "@coffer/client/internal/ServerUrl"
import { readServiceFiles, workingDirectory } from "@coffer/client/internal/ServiceFile"
import { allowEnvKey, isVariableName, serviceFileName } from "@coffer/client/internal/ServiceFileKeys"
import { defaultServerUrl } from "@coffer/client/internal/Settings"
import { BadSetting, variable, Variables } from "@coffer/client/internal/Variables"
import { trustFile, trustOrigin } from "@coffer/client/internal/TrustedFiles"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { describe } from "../../base/Describe.js"
import { CannotDo, WrongUsage } from "../../base/Failures.js"
import { openOutput, type OutputFile, writeOutput } from "../../output/OutputFile.js"
import { command, env, org, project, serverUrl } from "../../grammar/Command.js"
import { placeGiven, placeProblem, refuse } from "../../grammar/Place.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { commas, option, optionalArgument } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { note, printLine } from "../../terminal/Print.js"
import { agreesByEnter, canAsk } from "../../terminal/Prompts.js"
import { loginAnyhow } from "../auth/Login.js"
import { openCatalog } from "./Catalog.js"
import { chooseName } from "./NameChoice.js"

const address = (text: string) =>
  Either.mapLeft(
    parseServerUrl(text, "flag"),
    ({ message }) => new BadSetting({ message: `the server's address ${message}` })
  )

/** The settings of a directory: a person's work, whoever wrote it. */
const settingsFile = (path: string, force: boolean): OutputFile => ({
  path,
  force,
  holdsValues: false,
  isOwn: false,
  refusal: new CannotDo({ message: `${path} already exists; to overwrite it, add --force` }),
  mode: undefined,
  keepsAccess: true
})

const passesOn = (keys: ReadonlyArray<string>) => `coffer run passes on ${keys.join(", ")} there`

const givesTo = ({ host, key, path, tool }: HelperRule) =>
  `coffer helper gives ${key} to ${tool} for ${path === "" ? host : `${host}/${path}`}`

const leasesBy = ([name, role]: readonly [string, string]) =>
  `coffer run leases a user of ${role} for ${name}_URL there`

/** Stores that the file is trusted as it is, and says what follows. */
const trustServiceFile = Effect.fnUntraced(function* (path: string, source: string, effects: ReadonlyArray<string>) {
  yield* trustFile({ path, source })
  yield* printLine(`${path} is trusted as it is now: ${effects.join(", ")}`)
})

const allowEnv = option(
  "allow-env",
  commas(Schema.Array(Schema.String.pipe(Schema.filter(isVariableName))), "names of variables"),
  "Keys that coffer run passes on here although their names make other programs run code, separated by commas"
)

/** Says which names the file lacks, where nobody could be asked for them. */
const noteMissing = Effect.fnUntraced(function* (
  names: Readonly<Record<"org" | "project" | "env", string | undefined>>
) {
  const missing = Object.entries(names).flatMap(([key, name]) => (name === undefined ? [key] : []))
  if (missing.length === 0 || (yield* canAsk)) return
  const place = [names.org ?? "ORG", names.project ?? "PROJECT", names.env ?? "ENV"].join("/")
  yield* note(`the file names no ${missing.join(" and no ")}: name all with coffer init ${place} --force`)
})

/** Logs in first, if a person agrees: the lists of what there is need a session. */
const offerLogin = Effect.fnUntraced(function* (server: ServerUrl) {
  if (!(yield* canAsk)) return
  const isMissing = yield* credentialFor(server).pipe(
    Effect.as(false),
    Effect.catchAll(({ _tag }) => Effect.succeed(_tag === "NotAuthenticated"))
  )
  if (!isMissing || !(yield* agreesByEnter(`You are not logged in to ${server.origin}. Log in now?`))) return
  yield* Effect.catchAll(loginAnyhow(server, false), (failure) => note(`not logged in: ${describe(failure).sentence}`))
})

const init = command("init", {
  description: `Write ${serviceFileName} here, with the settings of this directory`,
  examples: [
    "coffer init acme/webshop/dev",
    "coffer init --org acme --force",
    "coffer init acme/webshop/dev --allow-env NODE_OPTIONS,PYTHONPATH --force"
  ],
  options: {
    place: optionalPlace,
    ...{ serverUrl, org, project, env, allowEnv },
    force: flag("force", `Overwrite an existing ${serviceFileName}`)
  },
  run: (options) =>
    Effect.gen(function* () {
      const path = join(yield* workingDirectory, serviceFileName)
      // Before any question is asked.
      const output = yield* openOutput(settingsFile(path, options.force))
      yield* refuse(placeProblem(options, inPlace(options)))
      const place = yield* placeGiven({ ...options, ...inPlace(options) })
      const variables = yield* Variables
      const names = { org: "SERVICE_ORG", project: "SERVICE_PROJECT", env: "SERVICE_ENV" } as const
      const isNamed =
        options.serverUrl !== undefined ||
        options.allowEnv !== undefined ||
        [place.org, place.project, place.env].some((name) => name !== undefined) ||
        Object.values(names).some((name) => variable(variables, name) !== undefined)
      if (!isNamed && !(yield* canAsk)) {
        return yield* new WrongUsage({
          message: `nobody can be asked here for the place, and nothing was written: name it, as in coffer init ORG/PROJECT/ENV; coffer org list shows the organizations`
        })
      }
      const given = options.serverUrl ?? variable(variables, "SERVICE_SERVER_URL")
      const server = yield* address(given ?? defaultServerUrl)
      yield* offerLogin(server)
      const catalog = yield* openCatalog(server)
      const org = yield* chooseName({
        key: "org",
        schema: OrgName,
        given: place.org ?? variable(variables, names.org),
        shelf: catalog.orgs
      })
      const project = yield* chooseName({
        key: "project",
        schema: ProjectName,
        given: place.project ?? variable(variables, names.project),
        shelf: org && catalog.projectsOf(org)
      })
      const env = yield* chooseName({
        key: "env",
        schema: EnvName,
        given: place.env ?? variable(variables, names.env),
        shelf: org && project && catalog.envsOf(org, project)
      })
      const lines = Object.entries({ server_url: server.base, org, project, env }).flatMap(([key, text]) =>
        // Quoted, so that every reader of YAML takes a name such as 123 or null for a text.
        text === undefined ? [] : [`${key}: ${JSON.stringify(text)}\n`]
      )
      const keys = options.allowEnv ?? []
      if (keys.length > 0) lines.push(`${allowEnvKey}: [${keys.map((key) => JSON.stringify(key)).join(", ")}]\n`)
      const source = lines.join("")
      yield* writeOutput(output, (write) => write(Buffer.from(source)))
      yield* trustOrigin(server.origin)
      yield* printLine(`wrote ${path}`)
      yield* noteMissing({ org, project, env })
      if (env !== undefined && (yield* canAsk)) {
        yield* note("next: coffer set KEY stores a secret, and coffer run COMMAND gives all to a program")
      }
      if (keys.length > 0) yield* trustServiceFile(path, source, [passesOn(keys)])
    })
})

/** Trusts every `service.yml` that applies here. */
const trustHere = Effect.gen(function* () {
  const { allowEnv, files, helpers, leases } = yield* readServiceFiles(yield* workingDirectory)
  if (files.length === 0) {
    return yield* new CannotDo({ message: `there is no ${serviceFileName} here; coffer init writes one` })
  }
  for (const file of files) {
    yield* trustServiceFile(file.path, file.source, [
      ...(allowEnv?.file === file ? [passesOn(allowEnv.names)] : []),
      ...(helpers?.file === file ? helpers.rules.map(givesTo) : []),
      ...(leases?.file === file ? [...leases.roles].map(leasesBy) : []),
      "coffer helper takes the place from it"
    ])
  }
})

const trust = command("trust", {
  description: `Trust a server that only ${serviceFileName} names; without an address, what the ${serviceFileName} here says of variables and credentials, until it changes`,
  examples: ["coffer trust https://coffer.example.com", "coffer trust"],
  options: {
    url: optionalArgument("URL", Schema.NonEmptyString, "The server's address; API keys go there from now on")
  },
  run: ({ url }) =>
    Effect.gen(function* () {
      if (url === undefined) return yield* trustHere
      const { origin } = yield* address(url)
      yield* trustOrigin(origin)
      yield* printLine(`${origin} is trusted: API keys go there even when only ${serviceFileName} names it`)
    })
})

export const setupCommands = [init, trust] as const
