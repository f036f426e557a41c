import type * as Brand from "effect/Brand"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { envNameForm, type Form, orgNameForm, projectNameForm } from "@coffer/domain/base/NameForms"
import { parseServerUrl, type ServerUrl, type Source } from "./ServerUrl.js"
import { readServiceFiles, workingDirectory } from "./ServiceFile.js"
import { BadSetting, variable, Variables } from "./Variables.js"
import { serviceFileName, type ServiceFileKey } from "./ServiceFileKeys.js"

export const defaultServerUrl = "http://localhost:7100"

/** Settings are missing. The message names all of them and the three ways to give each. */
export class MissingSettings extends Data.TaggedError("MissingSettings")<{
  readonly names: ReadonlyArray<SettingName>
  readonly message: string
}> {}

export type SettingName = "org" | "project" | "env"

/** Settings of the command line. An MCP tool gives its parameters in their place. */
export interface CommandLineSettings {
  readonly serverUrl?: string | undefined
  readonly org?: string | undefined
  readonly project?: string | undefined
  readonly env?: string | undefined
}

/** Used instead of schemas, which load too slowly for `coffer run`. */
const forms = { org: orgNameForm, project: projectNameForm, env: envNameForm } as const
const words = { org: "organization", project: "project", env: "environment" } as const
const variables = {
  server_url: "SERVICE_SERVER_URL",
  org: "SERVICE_ORG",
  project: "SERVICE_PROJECT",
  env: "SERVICE_ENV"
} as const

/** A setting as it was found. */
export interface SourcedSetting {
  readonly text: string
  readonly source: Source
  /** Where the setting was found, for people. */
  readonly where: string
}

/**
 * Loads the settings of a client. Precedence: settings given with the call, environment variables, `service.yml` in the
 * working directory or its parents, up to the root of the repository.
 *
 * @param spelling how error messages name a setting: as a flag of `coffer`, or as a parameter of an MCP tool.
 */
export const loadSettings = Effect.fnUntraced(function* (
  given: CommandLineSettings,
  spelling: "flag" | "parameter" = "flag",
  directory?: string
) {
  const env = yield* Variables
  const files = yield* readServiceFiles(directory ?? (yield* workingDirectory))
  const spell = (name: string) => (spelling === "flag" ? `--${name}` : `the parameter ${name}`)

  const find = (key: ServiceFileKey, flag: string, own: string | undefined): SourcedSetting | undefined => {
    if (own !== undefined) return { text: own, source: "flag", where: spell(flag) }
    const fromVariable = variable(env, variables[key])
    if (fromVariable !== undefined) return { text: fromVariable, source: "variable", where: variables[key] }
    const fromFile = files.settings[key]
    if (fromFile === undefined) return undefined
    return { text: fromFile.text, source: "file", where: `${fromFile.file.name}, line ${fromFile.line}, ${key}` }
  }

  const findServer = (): SourcedSetting =>
    find("server_url", "server-url", given.serverUrl) ?? {
      text: defaultServerUrl,
      source: "default",
      where: "the default"
    }

  const server: Effect.Effect<ServerUrl, BadSetting> = Effect.suspend(() => {
    const { source, text, where } = findServer()
    return Either.mapLeft(
      parseServerUrl(text, source),
      ({ message }) => new BadSetting({ message: `the server's address (${where}) ${message}` })
    )
  })

  const name = <B extends string>(
    key: SettingName,
    form: Form<B>
  ): Effect.Effect<string & Brand.Brand<B>, BadSetting | MissingSettings> =>
    Effect.suspend((): Either.Either<string & Brand.Brand<B>, BadSetting | MissingSettings> => {
      const found = find(key, key, given[key])
      if (found === undefined) {
        const message = `no ${words[key]} is given: pass ${spell(key)}, set ${variables[key]}, or write "${key}: …" in ${files.nearest?.name ?? serviceFileName}`
        return Either.left(new MissingSettings({ names: [key], message }))
      }
      const { text, where } = found
      if (form.is(text)) return Either.right(text)
      return Either.left(new BadSetting({ message: `${JSON.stringify(text)} (${where}): ${form.message}` }))
    })

  /** Names a file that would have been read under another name. */
  const withHint = (failure: BadSetting | MissingSettings): BadSetting | MissingSettings => {
    const misnamed = failure._tag === "MissingSettings" ? files.misnamed() : undefined
    if (failure._tag !== "MissingSettings" || misnamed === undefined) return failure
    const message = `${failure.message}; ${misnamed} is not read: rename it to ${serviceFileName}`
    return new MissingSettings({ names: failure.names, message })
  }

  const org = name("org", forms.org)
  const project = name("project", forms.project)
  const environment = name("env", forms.env)

  return {
    /** The `service.yml` files that apply. */
    files,
    /** Where a name was found; none if it is not given. */
    find: (key: SettingName) => find(key, key, given[key]),
    findServer,
    server,
    org,
    project,
    env: environment,
    /** Path parameters, as the contract names them. A failure names all missing settings at once. */
    orgPath: Effect.mapBoth(org, { onSuccess: (org_name) => ({ org_name }), onFailure: withHint }),
    projectPath: Effect.all({ org_name: org, project_name: project }, { mode: "validate" }).pipe(
      Effect.mapError((failures) => withHint(mergeFailures(Object.values(failures))))
    ),
    envPath: Effect.all({ org_name: org, project_name: project, env_name: environment }, { mode: "validate" }).pipe(
      Effect.mapError((failures) => withHint(mergeFailures(Object.values(failures))))
    )
  } as const
})

export type Settings = Effect.Effect.Success<ReturnType<typeof loadSettings>>

/** Merges the failures of several settings: the first invalid one, or else all missing ones. */
const mergeFailures = (
  failures: ReadonlyArray<Option.Option<BadSetting | MissingSettings>>
): BadSetting | MissingSettings => {
  const missing: Array<MissingSettings> = []
  for (const failure of failures.flatMap((option) => Option.toArray(option))) {
    if (failure._tag === "BadSetting") return failure
    missing.push(failure)
  }
  return new MissingSettings({
    names: missing.flatMap((failure) => failure.names),
    message: missing.map((failure) => failure.message).join("; ")
  })
}
