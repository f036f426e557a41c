/**
 * Checks of the rights of an entered place's actor elsewhere in its organization. A check is no attempt to enter, so it
 * records nothing.
 */
import { delegationOf } from "@coffer/domain/access/Actor"
import type { Permission } from "@coffer/domain/access/AclRule"
import type { EnvId, ProjectId } from "@coffer/domain/base/Ids"
import type { EnvName, ProjectName } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import type { OrgPlace } from "./Access.js"
import { decide, explain, type PlaceNames } from "./place/Decisions.js"
import type { KeyReach } from "./place/KeyReach.js"
import { subjectOf } from "./caller/Subject.js"

interface EnvironmentNames {
  readonly project_id: ProjectId
  readonly project: ProjectName
  readonly env_id: EnvId
  readonly env: EnvName
}

/** Whether a person may do an action elsewhere; service accounts may not. */
export const mayAlso = (place: OrgPlace<Action>, action: Action, names: Required<PlaceNames>): boolean =>
  place.actor.type === "user" && decide(action, subjectOf(place), names).allowed

/** The keys of an environment that the actor may list: null if they are all, undefined if they are none. */
export const listedKeys = (
  place: OrgPlace<Action>,
  projectId: ProjectId | null,
  { env, project }: { readonly project: ProjectName; readonly env: EnvName }
): KeyReach | null | undefined => {
  const { actor, org } = place
  if (actor.type !== "user" && actor.project !== null && actor.project.id !== projectId) return undefined
  const decision = decide("secret.list", subjectOf(place), { org: org.name, project, env }, "some")
  return decision.allowed ? (decision.reach ?? null) : undefined
}

/** Whether the actor may list all keys of an environment. */
export const mayList = (...asked: Parameters<typeof listedKeys>): boolean => listedKeys(...asked) === null

/**
 * Whether a rule could give the actor a permission that it lacks in an environment: its role or its credential may never have it, and
 * a delegation gains nothing outside its scope.
 */
export const couldGain = (
  place: OrgPlace<"request.create">,
  { env, env_id, project, project_id }: EnvironmentNames,
  permission: Permission
): boolean => {
  const { actor, org } = place
  const delegation = delegationOf(actor)
  if (delegation !== null && delegation.places.every((own) => own.env.id !== env_id)) return false
  if (actor.type === "service_account" && actor.project !== null && actor.project.id !== project_id) return false
  const subject = subjectOf(place)
  const names = { org: org.name, project, env }
  const granted = { id: "", project_pattern: project, env_pattern: env, permission }
  const isAllowed = (grants: typeof subject.grants) =>
    explain({ ...subject, grants }, names).allowed.includes(permission)
  return !isAllowed(subject.grants) && isAllowed([...subject.grants, granted])
}
