import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { type ReadonlySignal, useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { environmentNames } from "../client/Environments.js"
import { Choose } from "./Choose.js"
import { type Loaded, useLoad } from "./Load.js"
import { Reading } from "./Reading.js"

/** Names, and what they were read for: an answer must not count for what is chosen since. */
interface NamesOf<Name> {
  readonly of: string
  readonly names: ReadonlyArray<Name>
}

interface Names<Name> {
  readonly loaded: ReadonlySignal<Loaded<NamesOf<Name>>>
  readonly reload: () => void
}

/** The result of `usePlaceChoice`. */
export interface PlaceChoice {
  readonly projects: Names<ProjectName>
  readonly envs: Names<EnvName>
  /** Undefined until the projects are known, and if there are none. */
  readonly project: ProjectName | undefined
  readonly env: EnvName | undefined
  readonly chooseProject: (name: ProjectName) => void
  readonly chooseEnv: (name: EnvName) => void
}

const namesFor = <Name,>({ loaded }: Names<Name>, of: string): ReadonlyArray<Name> =>
  loaded.value.value?.of === of ? loaded.value.value.names : []

const readProjects = (org: OrgName) =>
  Effect.map(
    call("projects", (api) => api.list({ path: { org_name: org } })),
    ({ data }): NamesOf<ProjectName> => ({ of: org, names: data.map(({ name }) => name) })
  )

/** An environment of an organization's projects. The first ones are chosen, or else a project of before. */
export const usePlaceChoice = (org: OrgName, before: ProjectName | null = null): PlaceChoice => {
  const projectName = useSignal(before)
  const envName = useSignal<EnvName | null>(null)
  const projects = useLoad(org, () => readProjects(org))
  const projectNames = namesFor(projects, org)
  const project = projectNames.find((one) => one === projectName.value) ?? projectNames[0]
  const of = `${org}/${project ?? ""}`
  const envs = useLoad(of, () =>
    Effect.map(
      project === undefined ? Effect.succeed([]) : environmentNames(org, project),
      (names): NamesOf<EnvName> => ({ of, names })
    )
  )
  const envNames = namesFor(envs, of)
  return {
    projects,
    envs,
    project,
    env: envNames.find((one) => one === envName.value) ?? envNames[0],
    chooseProject: (name) => (projectName.value = name),
    chooseEnv: (name) => (envName.value = name)
  }
}

interface ChoosePlaceProps {
  readonly choice: PlaceChoice
  readonly envLabel: string
  /** The message if there is no project. */
  readonly nothing: string
}

/** Chooses a project, and one of its environments. */
export const ChoosePlace = ({ choice, envLabel, nothing }: ChoosePlaceProps) => {
  const { chooseEnv, chooseProject, env, envs, project, projects } = choice
  return (
    <Reading of={projects}>
      {({ names }) =>
        project === undefined ? (
          names.length === 0 && <p>{nothing}</p>
        ) : (
          <>
            <Choose label="Project" value={project} words={names} choose={chooseProject} />
            <Reading of={envs}>
              {(found) =>
                env === undefined ? (
                  found.names.length === 0 && <p class="hint bad">{project} has no environment.</p>
                ) : (
                  <Choose label={envLabel} value={env} words={found.names} choose={chooseEnv} />
                )
              }
            </Reading>
          </>
        )
      }
    </Reading>
  )
}
