import type { EnvPath, OrgPath, ProjectPath } from "@coffer/domain/api/Paths"
import type { BadServiceFile } from "@coffer/client/internal/ServiceFile"
import type { MissingSettings, Settings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Pinned } from "./Failures.js"

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

/** The settings that a call needs. */
export type PlaceSettings = Pick<Settings, "server" | "orgPath" | "projectPath" | "envPath">

/** Returns the path of a call from its parameters and the settings. A failure names everything that is missing. */
export const pathsOf: {
  readonly [Depth in keyof Paths]: (
    settings: PlaceSettings
  ) => Effect.Effect<Paths[Depth], BadSetting | MissingSettings>
} = {
  server: () => Effect.succeed({}),
  org: (settings) => settings.orgPath,
  project: (settings) => settings.projectPath,
  env: (settings) => settings.envPath
}

/** Finds the settings for a call, by the names in its parameters and the names that it concerns. */
export type FindSettings = (
  given: Scope,
  about: Scope
) => Effect.Effect<PlaceSettings, BadServiceFile | BadSetting | Pinned>

/** The names of a call that differ from those of a place. */
export const otherNames = (place: Scope, given: Scope, about: Scope): ReadonlyArray<PlaceName> =>
  names.filter((name) => [given[name], about[name]].some((text) => text !== undefined && text !== place[name]))
