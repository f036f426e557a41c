/** A place is one argument: `[ORG/]PROJECT/ENV`, of which the settings give what is left out. A pattern is a place with wildcards. */
import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import { argument, argumentsOf, codecOf, option, optionalArgument, requiredOption } from "./Fields.js"
import { partsOf, pathForms } from "./PlacePath.js"
import { type ArgumentSpec, type Codec, completedBy, type OptionSpec, repeatedOption } from "./Specs.js"

/** A name with the names above it, as far as they are given. */
export interface Named<Name extends string> {
  readonly name: Name
  readonly above: CommandLineSettings
}

const named = <Name extends string>(
  schema: Schema.Schema<Name, string>,
  form: string,
  keys: ReadonlyArray<"org" | "project">
): Codec<Named<Name>> => {
  const { decode } = codecOf(schema)
  return {
    value: "text",
    description: "",
    decode: (option, text) => {
      const parts = text.includes("/") ? partsOf(text, keys.length + 1) : [text]
      const name = parts?.at(-1)
      if (parts === undefined || name === undefined) return Either.left(`${option} must be ${form}`)
      const above = parts.slice(0, -1)
      const entries = keys.slice(keys.length - above.length).map((key, index) => [key, above[index]] as const)
      return Either.map(decode(option, name), (decoded) => ({ name: decoded, above: Object.fromEntries(entries) }))
    }
  }
}

const envCodec = named(EnvName, pathForms.env, ["org", "project"])
const projectCodec = named(ProjectName, pathForms.project, ["org"])

/** The environment that a command of a project is about. */
export const namedEnv = (description: string, name = "ENV"): ArgumentSpec<Named<EnvName>> =>
  argument(name, envCodec, `${description}: ${pathForms.env}`)

/** The same for an environment that exists, which the tab key completes. */
export const existingEnv = (description: string, name?: string) => completedBy("env-path", namedEnv(description, name))

/** The same for an option. */
export const optionalEnv = (name: string, description: string): OptionSpec<Named<EnvName> | undefined> =>
  completedBy("env-path", option(name, envCodec, `${description}: ${pathForms.env}`))

/** The same for an option that must be given. */
export const requiredEnv = (option: string, description: string): OptionSpec<Named<EnvName>> =>
  completedBy("env-path", requiredOption(option, envCodec, `${description}: ${pathForms.env}`))

/** The same for an option that may be given again. */
export const repeatedEnv = (option: string, description: string): OptionSpec<ReadonlyArray<Named<EnvName>>> =>
  completedBy("env-path", repeatedOption(option, envCodec, `${description}: ${pathForms.env}; may be given again`))

/** The names above the environment of a command, as far as they are given. */
export const aboveOf = ({ env }: { readonly env: Named<EnvName> }): CommandLineSettings => env.above

/** Two environments of one project. */
export interface EnvPair {
  readonly from: Named<EnvName>
  readonly to: Named<EnvName>
}

/** The names above two environments of one project, as far as either gives them. */
export const aboveBoth = ({ from, to }: EnvPair): CommandLineSettings => ({ ...from.above, ...to.above })

/** The problem with two environments that are not of one project; undefined if they can be. */
export const apart = ({ from, to }: EnvPair): string | undefined => {
  const differs = (key: "org" | "project") =>
    from.above[key] !== undefined && to.above[key] !== undefined && from.above[key] !== to.above[key]
  return differs("org") || differs("project") ? "give two environments of one project" : undefined
}

/** The project that a command of an organization is about. */
export const namedProject = (description: string): ArgumentSpec<Named<ProjectName>> =>
  argument("PROJECT", projectCodec, `${description}: ${pathForms.project}`)

/** The project of a command, where it is not the one of the settings. */
export const optionalProject = completedBy(
  "project-path",
  optionalArgument("PROJECT", projectCodec, `The project, where it is not the configured one: ${pathForms.project}`)
)

/** From one project to two, of which the last is a new name. */
export const projectAndName = completedBy(
  "project-path",
  argumentsOf(
    "PROJECT",
    projectCodec,
    { least: 1, most: 2 },
    `The project, where it is not the configured one: ${pathForms.project}; and its new name`
  )
)

/** The settings that the project of a command gives. */
export const inProject = ({ project }: { readonly project: Named<ProjectName> | undefined }): CommandLineSettings =>
  project === undefined ? {} : { ...project.above, project: project.name }

/**
 * A place in full or in part. Each of its names is a name, a pattern or `*`, as the codecs of the two parts say.
 */
export interface PlaceOf<Project, Env> {
  readonly org: string | undefined
  /** Undefined for the project of the settings. */
  readonly project: Project | undefined
  readonly env: Env
}

/** Reads `[[ORG/]PROJECT/]ENV`: the one form of a place, for names and for patterns. */
export const placeOf = <Project, Env>(project: Codec<Project>, env: Codec<Env>): Codec<PlaceOf<Project, Env>> => ({
  value: "text",
  description: "",
  decode: (name, text) => {
    const [envName, projectName, org] = [...(partsOf(text, 3) ?? [])].reverse()
    if (envName === undefined) {
      return Either.left(`${name} must be a place or a pattern, such as webshop/prod or 'webshop/*'`)
    }
    return Either.all({
      org: Either.right(org),
      project: projectName === undefined ? Either.right(undefined) : project.decode(name, projectName),
      env: env.decode(name, envName)
    })
  }
})

/** A part of a place that may be `*`, for any: then null. */
export const orAny = <A>({ decode, ...rest }: Codec<A>): Codec<A | null> => ({
  ...rest,
  decode: (name, text) => (text === "*" ? Either.right(null) : decode(name, text))
})

const pattern = codecOf(Pattern)

/** A place whose names may be patterns. */
export const patternPlace = placeOf(pattern, pattern)

/** How a place with patterns is described. */
export const patternForm = "a place such as webshop/prod, or a pattern such as 'webshop/*' or 'web-*/{dev,staging}'"
