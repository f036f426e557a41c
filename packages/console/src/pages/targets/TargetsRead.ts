import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { Target } from "@coffer/domain/secrets/Target"
import * as Effect from "effect/Effect"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"

export interface EnvPath {
  readonly org_name: OrgName
  readonly project_name: ProjectName
  readonly env_name: EnvName
}

/** The targets of an environment; null without the right to see them, which is not tried: the refusal would be recorded. */
export const readTargets = (path: EnvPath) =>
  Effect.flatMap(allowedIn(path.org_name, path.project_name, path.env_name), (allowed) =>
    allowed.includes("admin")
      ? Effect.map(
          call("targets", (api) => api.list({ path })),
          ({ data }): ReadonlyArray<Target> | null => data
        )
      : Effect.succeed(null)
  )
