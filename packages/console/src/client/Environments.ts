import { inStageOrder } from "@coffer/domain/EnvironmentOrder"
import type { OrgName, ProjectName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { call } from "./Calls.js"

/** The names of a project's environments, in the order of the matrix. */
export const environmentNames = (org: OrgName, project: ProjectName) =>
  Effect.map(
    call("environments", (api) => api.list({ path: { org_name: org, project_name: project } })),
    ({ data }) => inStageOrder(data).map(({ name }) => name)
  )
