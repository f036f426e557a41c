import type { Actor, Delegated } from "@coffer/domain/access/Actor"
import type { EnvPath, OrgPath, ProjectPath, SecretPath } from "@coffer/domain/api/Paths"
import type { Action } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { FoundPlace } from "./PlaceRow.js"
import { refuse } from "./RefusedAccess.js"

export interface PathNames extends OrgPath {
  readonly project_name?: ProjectPath["project_name"]
  readonly env_name?: EnvPath["env_name"]
  /** For the audit entry of a refusal only; not looked up. */
  readonly key?: SecretPath["key"]
}

/** Refusals to enter a place: each is recorded, and fails with Forbidden. */
export const makePlaceRefusals = Effect.map(AuditLog, (audit) => {
  /** Refuses an actor whose role and rules do not allow the action at the place. */
  const refuseAt = (
    actor: Actor,
    { env, org, project }: FoundPlace,
    path: PathNames,
    action: Action,
    missing: string
  ) =>
    refuse(
      audit,
      { ...actorSource(actor), orgId: org.id },
      {
        resource_type: env !== null ? "env" : project !== null ? "project" : "org",
        resource_id: (env ?? project ?? org).id,
        metadata: {
          action,
          ...(path.project_name !== undefined && { project: path.project_name }),
          ...(path.env_name !== undefined && { env: path.env_name }),
          ...(path.key !== undefined && { key: path.key })
        }
      },
      missing
    )

  /** Refuses a call that a delegation may not make. The entry belongs to the delegation's first place: the path may name any other. */
  const refuseDelegation = (
    actor: Actor,
    { org, places: [{ env, project }] }: Delegated,
    action: string,
    missing: string,
    path = "",
    scope?: string
  ) =>
    refuse(
      audit,
      { ...actorSource(actor), orgId: org.id, project: project.name, env: env.name },
      { resource_type: "env", resource_id: env.id, metadata: { action, ...(path !== "" && { asked: path }) } },
      missing,
      scope
    )

  return { refuseAt, refuseDelegation } as const
})
