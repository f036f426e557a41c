import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"
import { mayInOrg } from "../../client/Organizations.js"

export interface EnvPath {
  readonly org_name: OrgName
  readonly project_name: ProjectName
  readonly env_name: EnvName
}

/** Admins see all that renews credentials; others see their own leases. Without a right, nothing is tried. */
export const readRenewal = (path: EnvPath) =>
  Effect.gen(function* () {
    const allowed = yield* allowedIn(path.org_name, path.project_name, path.env_name)
    const isAdmin = mayInOrg(path.org_name, "rotation.list")
    const mayLease = allowed.includes("read")
    const { connections, leases, roles, rotations } = yield* Effect.all(
      {
        rotations: isAdmin ? call("rotations", (api) => api.list({ path })) : Effect.succeed({ data: [] }),
        leases: mayLease ? call("leases", (api) => api.list({ path })) : Effect.succeed({ data: [] }),
        roles: isAdmin ? call("leaseRoles", (api) => api.list({ path })) : Effect.succeed({ data: [] }),
        connections: isAdmin ? call("connections", (api) => api.list({ path })) : Effect.succeed({ data: [] })
      },
      { concurrency: 4 }
    )
    return {
      ...{ isAdmin, mayLease, rotations: rotations.data, leases: leases.data },
      ...{ roles: roles.data, connections: connections.data }
    }
  })

/** The properties of a form of the page: its environment, and what happens after the change. */
export interface FormProps {
  readonly path: EnvPath
  readonly close: () => void
  readonly done: () => void
}
