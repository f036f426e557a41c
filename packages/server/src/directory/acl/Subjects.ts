import type { SubjectType } from "@coffer/domain/access/AclRule"
import { type Actor, delegationOf } from "@coffer/domain/access/Actor"
import { type Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { denied, type Place } from "../../access/Access.js"
import type { Grant, Subject } from "../../access/place/Decisions.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { aclRepo } from "./Repo.js"

export type AclPlace = Place<"acl.list" | "acl.grant" | "acl.revoke" | "acl.explain">

/** The subject of a request. Its schema requires the field that fits `subject_type`. */
export interface SubjectRef {
  readonly subject_type: SubjectType
  readonly email?: Email
  readonly subject_id?: ServiceAccountId
}

export const noSubject = ({ email, subject_id }: Pick<SubjectRef, "email" | "subject_id">, place: AclPlace) =>
  email === undefined
    ? notFound(`service account ${subject_id ?? ""}`)
    : new NotFound({ message: `${email} is not a member of organization ${place.org.name}` })

export const isSelf = (actor: Actor, subject: SubjectRef): boolean =>
  actor.type === "user" ? actor.email === subject.email : actor.id === subject.subject_id

/** The first of two ends; null: none. */
export const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/** Looks up the subjects whose rights are to be explained. */
export const makeSubjects = Effect.gen(function* () {
  const repo = yield* aclRepo
  const audit = yield* AuditLog

  /** Fails with Forbidden unless the caller is an admin, or asks about itself. */
  const mayAskAbout = (place: Place<"acl.explain">, ref: SubjectRef): Effect.Effect<void, Forbidden> =>
    isSelf(place.actor, ref) ||
    // A delegation asks about itself alone, whatever its person's role.
    (delegationOf(place.actor) === null &&
      (place.role === "owner" || place.role === "admin" || (place.actor.type === "user" && place.actor.superadmin)))
      ? Effect.void
      : denied(audit, place, `this needs the role admin in organization ${place.org.name}, unless it is about yourself`)

  /** A subject with its rules, and the project that it is bound to. */
  const find = Effect.fnUntraced(function* (place: AclPlace, ref: SubjectRef) {
    const orgId = place.org.id
    if (ref.email !== undefined) {
      const user = yield* repo.findUser({ orgId, email: ref.email })
      if (user === undefined || (user.role === null && user.superadmin === 0)) return yield* noSubject(ref, place)
      const own: ReadonlyArray<Grant> = yield* repo.grantsOf({ orgId, subjectId: user.id })
      const ofAllGroups = yield* repo.groupGrantsOf({ orgId, subjectId: user.id })
      // A group that a login brought is the business of an organization once the person has accepted the membership.
      const ofGroups = ofAllGroups.filter(({ member_until }) => user.accepted_at !== null || member_until === null)
      const grants = [
        ...own,
        ...ofGroups.map(({ expires_at, group_name: group, member_until, ...rule }) => ({
          ...rule,
          group,
          expires_at: earlier(expires_at, member_until)
        }))
      ]
      const delegation = delegationOf(place.actor)
      const subject: Subject = { superadmin: user.superadmin === 1, role: user.role, account: null, grants, delegation }
      return { id: user.id, subject, projectId: null }
    }
    const account = ref.subject_id === undefined ? undefined : yield* repo.findAccount({ orgId, id: ref.subject_id })
    if (account === undefined) return yield* noSubject(ref, place)
    const grants = yield* repo.grantsOf({ orgId, subjectId: account.id })
    const { project_id, reveal } = account
    const subject: Subject = {
      superadmin: false,
      role: null,
      account: { scoped: project_id !== null, reveal: reveal === 1 },
      grants
    }
    return { id: account.id, subject, projectId: project_id }
  })

  return { mayAskAbout, find } as const
})
