import type { EnvPath, OrgPath, ProjectPath } from "@coffer/domain/api/Paths"
import type { BadServiceFile } from "@coffer/domain/client/ServiceFile"
import { type BadSetting, loadSettings, type MissingSettings, type Settings } from "@coffer/domain/client/Settings"
import { EnvName, optional, OrgName, ProjectName } from "@coffer/domain/Names"
import { Effect, Either } from "effect"
import { Pinned } from "./Failures.js"

/** The parameters that every tool takes, used or not. */
export const placeParameters = {
  org: optional(OrgName).annotations({ description: "The organization. Default: SERVICE_ORG, else org in service.yml" }),
  project: optional(ProjectName).annotations({
    description: "The project. Default: SERVICE_PROJECT, else project in service.yml"
  }),
  env: optional(EnvName).annotations({ description: "The environment. Default: SERVICE_ENV, else env in service.yml" })
} as const

const names = ["org", "project", "env"] as const
export type PlaceName = (typeof names)[number]

/** The names that a call gives. */
export type Place = { readonly [Name in PlaceName]?: string | undefined }

/** The paths of the contract, by how far down a tool works. */
export interface Paths {
  readonly server: Readonly<Record<never, never>>
  readonly org: OrgPath
  readonly project: ProjectPath
  readonly env: EnvPath
}

/** The path of a call, out of what is given and configured; a failure names everything that is missing. */
export const pathsOf: {
  readonly [Depth in keyof Paths]: (settings: Settings) => Effect.Effect<Paths[Depth], BadSetting | MissingSettings>
} = {
  server: () => Effect.succeed({}),
  org: (settings) => settings.orgPath,
  project: (settings) => settings.projectPath,
  env: (settings) => settings.envPath
}

export type LoadFailure = BadServiceFile | BadSetting | Pinned

/** Finds the settings for a call that gives these names and is about these. */
export type LoadSettings = (given: Place, about: Place) => Effect.Effect<Settings, LoadFailure>

const free: LoadSettings = (given) => loadSettings(given, "parameter")

const describeMissing = ({ names: missing }: MissingSettings) =>
  new Pinned({
    message: `SERVICE_MCP_PIN is on and no ${missing.join(", no ")} is configured: ask the user to set ${missing
      .map((name) => `SERVICE_${name.toUpperCase()}`)
      .join(", ")} and to start coffer-mcp again`
  })

/**
 * The settings as they were at the start: an agent that can write `service.yml` does not get elsewhere by it. A call that
 * names another place, or one where none is configured, is refused.
 */
const pinned = Effect.gen(function* () {
  const loaded = yield* Effect.either(loadSettings({}, "parameter"))
  if (Either.isLeft(loaded)) return (): ReturnType<LoadSettings> => loaded
  const settings = loaded.right

  const load: LoadSettings = (given, about) =>
    Effect.gen(function* () {
      const elsewhere: Array<string> = []
      for (const name of names) {
        const asked = [given[name], about[name]].filter((text) => text !== undefined)
        if (asked.length === 0) continue
        const configured = Either.getOrUndefined(yield* Effect.either<string, unknown, never>(settings[name]))
        if (asked.some((text) => text !== configured)) elsewhere.push(name)
      }
      if (elsewhere.length === 0) return settings
      return yield* new Pinned({
        message: `SERVICE_MCP_PIN is on, and the call names another ${elsewhere.join(", another ")} than the configured one`
      })
    })
  return load
})
