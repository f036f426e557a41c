import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { endingLast } from "./Ending.js"
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
