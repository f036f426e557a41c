import type { EnvPath, OrgPath, ProjectPath } from "@coffer/domain/api/Paths"
import type { BadServiceFile } from "@coffer/client/internal/ServiceFile"
import { loadSettings, MissingSettings, type Settings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Pinned } from "./Failures.js"

const keepsRule = { org: Schema.is(OrgName), project: Schema.is(ProjectName), env: Schema.is(EnvName) } as const
const names = ["org", "project", "env"] as const
type PlaceName = (typeof names)[number]

/** The names in a call's parameters. */
export type Scope = { readonly [Name in PlaceName]?: string | undefined }

/** The parameters that every tool takes, used or not. */
export const placeParameters = {
  org: optional(OrgName.annotations({ description: "the organization; default: the configured one" })),
  project: optional(ProjectName.annotations({ description: "the project; default: the configured one" })),
  env: optional(EnvName.annotations({ description: "the environment; default: the configured one" }))
} as const

const standIn = "stand-in"

/** Reads the names of unchecked parameters. A placeholder replaces an invalid name, which is wrong but not missing. */
export const namesIn = (parameters: unknown): Scope => {
  if (!Predicate.isRecord(parameters)) return {}
  const nameOf = (name: PlaceName) => {
    const given = parameters[name]
    return given === undefined || keepsRule[name](given) ? given : standIn
  }
  return { org: nameOf("org"), project: nameOf("project"), env: nameOf("env") }
}

/** The path of a tool that works on the server as a whole. */
interface NoNames {
  readonly org_name?: never
}

/** The paths of the contract, by the scope of a tool. */
export interface Paths {
  readonly server: NoNames
  readonly org: OrgPath
  readonly project: ProjectPath
  readonly env: EnvPath
}

/** Returns the path of a call from its parameters and the settings. A failure names everything that is missing. */
export const pathsOf: {
  readonly [Depth in keyof Paths]: (settings: Settings) => Effect.Effect<Paths[Depth], BadSetting | MissingSettings>
} = {
  server: () => Effect.succeed({}),
  org: (settings) => settings.orgPath,
  project: (settings) => settings.projectPath,
  env: (settings) => settings.envPath
}

/** Finds the settings for a call, by the names in its parameters and the names that it concerns. */
export type FindSettings = (given: Scope, about: Scope) => Effect.Effect<Settings, BadServiceFile | BadSetting | Pinned>

/** Reads the settings for each call, so that changes apply to the next call. */
export const freely: FindSettings = (given) => loadSettings(given, "parameter")

const whilePinned = Effect.mapError((failure: BadSetting | MissingSettings) => {
  if (failure._tag === "BadSetting") return failure
  const missing = failure.names.map((name) => `SERVICE_${name.toUpperCase()}`).join(", ")
  const message = `SERVICE_MCP_PIN is on and the place is not configured: ask the user to set ${missing}, and to start coffer-mcp again`
  return new MissingSettings({ names: failure.names, message })
})

/**
 * Uses the settings of the start: an agent that can write `service.yml` cannot reach another place with it. Refuses a call that
 * names another place, also if none is configured.
 */
export const pinned: Effect.Effect<FindSettings> = Effect.gen(function* () {
  const loaded = yield* Effect.either(loadSettings({}, "parameter"))
  if (Either.isLeft(loaded)) return (): Effect.Effect<Settings, BadServiceFile> => loaded
  const settings: Settings = {
    ...loaded.right,
    orgPath: whilePinned(loaded.right.orgPath),
    projectPath: whilePinned(loaded.right.projectPath),
    envPath: whilePinned(loaded.right.envPath)
  }
  const configured: Scope = yield* Effect.all({
    org: Effect.orElseSucceed(settings.org, () => undefined),
    project: Effect.orElseSucceed(settings.project, () => undefined),
    env: Effect.orElseSucceed(settings.env, () => undefined)
  })
  return (given: Scope, about: Scope) => {
    const chosen = names.filter((name) =>
      [given[name], about[name]].some((text) => text !== undefined && text !== configured[name])
    )
    if (chosen.length === 0) return Effect.succeed(settings)
    const message = `SERVICE_MCP_PIN is on, so a call may not choose its ${chosen.join(", ")}: only the configured place is used`
    return Effect.fail(new Pinned({ message }))
  }
})
