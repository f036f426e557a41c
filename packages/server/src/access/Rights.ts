/**
 * Checks of the rights of an entered place's actor elsewhere in its organization. A check is no attempt to enter, so it
 * records nothing.
 */
import type { Permission } from "@coffer/domain/access/AclRule"
import type { EnvId, ProjectId } from "@coffer/domain/base/Ids"
import type { EnvName, ProjectName } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import type { OrgPlace, ProjectPlace } from "./Access.js"
import { decide, explain, type PlaceNames } from "./place/Decisions.js"
import type { Named } from "./place/PlaceRow.js"
import { subjectOf } from "./caller/Subject.js"

/** Whether a person may do an action elsewhere; service accounts may not. */
export const mayAlso = (place: OrgPlace<Action>, action: Action, names: Required<PlaceNames>): boolean =>
  place.actor.type === "user" && decide(action, subjectOf(place), names).allowed

/** Whether the actor may list the keys of an environment. */
export const mayList = (
  place: OrgPlace<Action>,
  projectId: ProjectId | null,
  { env, project }: { readonly project: ProjectName; readonly env: EnvName }
): boolean => {
  const { actor, org } = place
  return (
    (actor.type === "user" || actor.project === null || actor.project.id === projectId) &&
    decide("secret.list", subjectOf(place), { org: org.name, project, env }).allowed
  )
}

/** Whether a rule could give the actor a permission in an environment: its role or its credential may never have it. */
export const couldHave = (
  place: ProjectPlace<"env.list">,
  env: Named<EnvId, EnvName>,
  permission: Permission
): boolean => {
  const subject = subjectOf(place)
  const names = { org: place.org.name, project: place.project.name, env: env.name }
  const granted = { id: "", project_pattern: place.project.name, env_pattern: env.name, permission }
  return explain({ ...subject, grants: [...subject.grants, granted] }, names).allowed.includes(permission)
}
