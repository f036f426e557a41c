import type { Actor, Caller } from "@coffer/domain/access/Actor"
import type { Role } from "@coffer/domain/directory/Member"
import type { Grant, Subject } from "../place/Decisions.js"
import { AuthenticatedCaller } from "./AuthenticatedCaller.js"
import type { FoundPlace } from "../place/PlaceRow.js"

interface Holder {
  readonly actor: Actor
  readonly role: Role | null
  readonly grants: ReadonlyArray<Grant>
}

/** Returns the facts about an actor that `Decisions` needs, with its role and its rules in an organization. */
export const subjectOf = ({ actor, grants, role }: Holder): Subject =>
  actor.type === "user"
    ? {
        superadmin: actor.superadmin || actor.delegation?.ofSuperadmin === true,
        role,
        account: null,
        grants,
        delegation: actor.delegation
      }
    : { superadmin: false, role: null, account: { scoped: actor.project !== null, reveal: actor.reveal }, grants }

/** Whether the actor may learn that the organization exists. */
export const mayKnow = (actor: Actor, { org, role }: FoundPlace): boolean =>
  actor.type === "user"
    ? actor.superadmin || role !== null || actor.delegation?.ofSuperadmin === true
    : actor.orgId === org.id

/**
 * The tenant of a caller: an account's organization, the person's organization on the path, or else the person. A name on a path
 * alone proves nothing: others could use up the organization's share.
 */
export const tenantOfCaller = (caller: Caller): string => {
  const { actor } = caller
  if (actor.type === "service_account") return actor.orgId
  const found = caller instanceof AuthenticatedCaller ? caller.found : null
  return found !== null && mayKnow(actor, found) ? found.org.id : actor.id
}
