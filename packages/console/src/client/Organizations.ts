import type { Permission } from "@coffer/domain/access/AclRule"
import { roles } from "@coffer/domain/directory/Member"
import type { OrgName } from "@coffer/domain/base/Names"
import type { Organization } from "@coffer/domain/directory/Organization"
import { type Action, needs } from "@coffer/domain/access/Permissions"
import { signal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "./Calls.js"
import { me } from "../state/Session.js"

/** The caller's organizations, with its roles. */
export const organizations = signal<ReadonlyArray<Organization>>([])

/**
 * Whether the caller has accepted the membership. A call in another organization would accept it, so the console makes none there
 * before the person opens it.
 */
export const isJoined = ({ accepted }: Organization): boolean => accepted !== false

/** Whether the caller was invited to the organization of a place, and has not accepted. */
export const isInvitedTo = (org: OrgName | null): boolean =>
  organizations.value.some((one) => one.name === org && !isJoined(one))

export const readOrganizations = Effect.suspend(() => call("organizations", (api) => api.list())).pipe(
  Effect.map(({ data }) => data),
  Effect.tap((found) =>
    Effect.sync(() => {
      organizations.value = found
    })
  )
)

/** The right that the caller lacks in an organization, in words; null if it lacks none. Rules are not regarded. */
export const missingInOrg = (org: OrgName, action: Action): string | null => {
  if (me.value?.is_superadmin === true) return null
  const own = organizations.value.find(({ name }) => name === org)?.role ?? null
  const { role } = needs[action]
  return roles.findIndex((one) => one === own) >= roles.indexOf(role) ? null : `needs the role ${role}`
}

export const mayInOrg = (org: OrgName, action: Action): boolean => missingInOrg(org, action) === null

/** Whether the caller's role lets a rule give a permission. A request for access with another one is refused. */
export const mayBeGiven = (org: OrgName, permission: Permission): boolean =>
  permission === "use" || permission === "read" || mayInOrg(org, "secret.write")
