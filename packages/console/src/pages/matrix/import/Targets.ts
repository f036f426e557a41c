import type { ToolDocument } from "@coffer/domain/formats/tools/ReadDocument"
import type { FoundPlace } from "@coffer/domain/formats/tools/Places"
import type { EnvName } from "@coffer/domain/base/Names"

/** The name that a document gives to an environment; empty if it names none. */
export const nameOfPlace = ({ env }: FoundPlace): string => env ?? ""

/** Where each environment of a document goes, by its name; null: nowhere. */
export type Targets = ReadonlyMap<string, EnvName | null>

/** Other names of the usual stages. */
const stages = [/^(local|dev)/, /^(test|tst|ci)/, /^qa/, /^(stag|stg|uat)/, /^(preview|pre)/, /^(prod|prd|live)/]

const stageOf = (name: string): number => stages.findIndex((stage) => stage.test(name.toLowerCase()))

/**
 * Guesses where the environments of a document go: by their names, or else by their stages, such as `prd` into `prod`. No two go
 * into the same, and what no name leads to goes nowhere; but a document with one environment goes into `usual`.
 */
export const guessTargets = (
  names: ReadonlyArray<string>,
  envs: ReadonlyArray<EnvName>,
  usual: EnvName | null
): Targets => {
  const found = new Map<string, EnvName | null>()
  const taken = new Set<EnvName>()
  const give = (name: string, env: EnvName | undefined) => {
    if (env === undefined || taken.has(env) || found.has(name)) return
    found.set(name, env)
    taken.add(env)
  }
  for (const name of names)
    give(
      name,
      envs.find((env) => env === name.toLowerCase())
    )
  for (const name of names) {
    const alike = envs.filter((env) => stageOf(name) !== -1 && stageOf(env) === stageOf(name))
    if (alike.length === 1) give(name, alike[0])
  }
  const [only] = names
  if (names.length === 1 && only !== undefined && !found.has(only)) found.set(only, usual)
  return new Map(names.map((name) => [name, found.get(name) ?? null]))
}

/** The projects that a document names. */
export const projectsOf = ({ places }: ToolDocument): ReadonlyArray<string> => [
  ...new Set(places.flatMap(({ project }) => (project === undefined ? [] : [project])))
]

/** The part of a document that is of one project, and goes somewhere. */
export const partOf = (document: ToolDocument, project: string | undefined, targets: Targets): ToolDocument => ({
  ...document,
  places: document.places.filter(
    (place) => place.project === project && (targets.get(nameOfPlace(place)) ?? null) !== null
  )
})
