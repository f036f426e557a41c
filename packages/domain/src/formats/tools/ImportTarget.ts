import { envNameForm, projectNameForm } from "../../base/NameForms.js"
import type { EnvName, ProjectName } from "../../base/Names.js"
import type { FoundPlace, PlaceName } from "./Places.js"
import type { ToolDocument } from "./ReadDocument.js"

/** Where an import goes. */
export interface ImportTarget {
  /** The project and the environment for a document that names one place or none. */
  readonly project: ProjectName | undefined
  readonly env: EnvName | undefined
  /** Environments by the tool's names. */
  readonly envs: ReadonlyMap<string, string>
  /** Projects by the tool's names. */
  readonly projects: ReadonlyMap<string, string>
  /** Keys by the tool's names, or by their paths. */
  readonly keys: ReadonlyMap<string, string>
}

/** A place of a document with its target. */
export interface TargetedPlace {
  readonly place: FoundPlace
  readonly project: ProjectName
  readonly env: EnvName
}

const nameOf = ({ env, project }: PlaceName) => [project, env].filter((name) => name !== undefined).join("/")

/** How people name a place of a tool. */
export const sourceOf = (tool: string, place: PlaceName): string =>
  nameOf(place) === "" ? tool : `${tool}:${nameOf(place)}`

/** The renamed one, the own one where a document has several, or the one of the target. */
const choose = (
  own: string | undefined,
  renamed: ReadonlyMap<string, string>,
  isOneOfMany: boolean,
  usual: string | undefined
) => (own === undefined ? undefined : (renamed.get(own) ?? (isOneOfMany ? own : undefined))) ?? usual

/** Finds the target of each place. A document with several projects or environments keeps their names. */
export const targetsOf = (
  { places, tool }: ToolDocument,
  target: ImportTarget,
  refuse: (sentence: string) => void
): ReadonlyArray<TargetedPlace> => {
  const isMany = (name: (place: FoundPlace) => string | undefined) => new Set(places.map(name)).size > 1
  const hasManyProjects = isMany(({ project }) => project)
  const hasMany = isMany(nameOf)
  return places.flatMap((place) => {
    const project = choose(place.project, target.projects, hasManyProjects, target.project)
    const env = choose(place.env, target.envs, hasMany, target.env)
    if (project === undefined || env === undefined) {
      const [missing, option] = project === undefined ? ["project", "--project"] : ["environment", "--env"]
      refuse(`${sourceOf(tool, place)}: no ${missing} is given for it: pass ${option}`)
      return []
    }
    const no = (message: string, option: string, name: string) => {
      refuse(`${sourceOf(tool, place)}: ${message}; name another one with ${option} ${JSON.stringify(`${name}=NAME`)}`)
      return []
    }
    if (!projectNameForm.is(project)) return no(projectNameForm.message, "--project-map", place.project ?? project)
    if (!envNameForm.is(env)) return no(envNameForm.message, "--map", place.env ?? env)
    return [{ place, project, env }]
  })
}
