import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { endingLast } from "../kit/Ending.js"
import { call } from "./Calls.js"

/** The environments of a project, in the order of the matrix. */
export const environmentsOf = (org: OrgName, project: ProjectName) =>
  Effect.map(
    call("environments", (api) => api.list({ path: { org_name: org, project_name: project } })),
    ({ data }) => endingLast(data)
  )

/** Their names. */
export const environmentNames = (org: OrgName, project: ProjectName) =>
  Effect.map(environmentsOf(org, project), (environments) => environments.map(({ name }) => name))

/** A project, with the names of its environments. */
export interface ProjectEnvironments {
  readonly project: ProjectName
  readonly envs: ReadonlyArray<EnvName>
}

/** The first projects of an organization, to choose an environment of. */
export const choicesIn = (org: OrgName) =>
  call("projects", (api) => api.list({ path: { org_name: org } })).pipe(
    Effect.flatMap(({ data }) =>
      Effect.forEach(
        data.slice(0, 100),
        ({ name: project }) =>
          Effect.map(environmentNames(org, project), (envs): ProjectEnvironments => ({ project, envs })),
        { concurrency: 4 }
      )
    )
  )
