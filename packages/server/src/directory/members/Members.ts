import { actorName } from "@coffer/domain/access/Actor"
import { Conflict, type Forbidden, LastOwner, type LimitExceeded } from "@coffer/domain/errors/Errors"
import type { UserId } from "@coffer/domain/base/Ids"
import type { Member, Role } from "@coffer/domain/directory/Member"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { denied, type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { mayAlso } from "../../access/Rights.js"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { makeVotingMembers } from "../../access/gate/VotingMembers.js"
import { makeVotingNotices } from "../../access/gate/VotingNotices.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { Users } from "../login/Users.js"
import { ServerConfig } from "../../base/Config.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { recordLimit } from "../../base/Limit.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { afterCommit, type Transaction } from "../../database/Database.js"
import { orTaken } from "../../database/SqlErrors.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { makeDepartures } from "./Departures.js"
import { type MemberRow, membersRepo } from "./Repo.js"
import { method } from "../../base/tracing/Traced.js"

export const memberLimit = recordLimit(10_000, (max) => `an organization has at most ${max} members`)
const hour = 60 * 60 * 1000

/** Limits of invitation mails, so that nobody can use this server to flood an address. */
const mailsOfPlace: RateLimit = { kind: "invitation.place", max: 1, window: hour }
const mailsOfAddress: RateLimit = { kind: "invitation.address", max: 5, window: hour }
const mailsOfInviter: RateLimit = { kind: "invitation.inviter", max: 100, window: hour }

type MemberPlace = Place<"member.invite" | "member.update" | "member.remove" | "member.leave">

/** The role, rules and groups of a membership when it ended. */
export interface Ended {
  readonly role: Role
  readonly endedAt: string
  /** The ids of access rules. */
  readonly rules: ReadonlyArray<string>
  /** The ids of groups that people put the member into. */
  readonly groups: ReadonlyArray<string>
}

/** An invitation, or that a former member has left more rows than one transaction ends: call again. */
type Invitation =
  { readonly hasMore: false; readonly member: Member } | { readonly hasMore: true; readonly member: null }

const memberOf = ({ is_accepted, ...member }: MemberRow): Member => ({ ...member, accepted: is_accepted === 1 })

/** The members of an organization and their roles. An organization always has an owner. */
export class Members extends Effect.Service<Members>()("@coffer/server/Members", {
  effect: Effect.gen(function* () {
    const repo = yield* membersRepo
    const users = yield* Users
    const audit = yield* AuditLog
    const mailer = yield* Mailer
    const limits = yield* RateLimits
    const { invitationMail } = yield* ServerConfig
    const { keepVotes } = yield* makeVotingMembers
    const departures = yield* makeDepartures
    const notify = yield* makeVotingNotices

    /** Returns the audit source for a change of an owner. Fails with Forbidden unless an owner or a superadmin acts. */
    const ownerSource = (place: MemberPlace): Effect.Effect<AuditSource, Forbidden> => {
      if (place.role === "owner") return Effect.succeed(sourceOf(place))
      return place.actor.type === "user" && place.actor.superadmin
        ? Effect.succeed({ ...sourceOf(place), via: "superadmin" })
        : denied(
            audit,
            place,
            `only an owner of organization ${place.org.name} may grant, change or remove the role owner`
          )
    }

    /** Whether the invitation may be mailed; counts it if so. Call it in the transaction of the invitation. */
    const mayMail = Effect.fnUntraced(function* (
      place: Place<"member.invite">,
      user: { readonly disabled_at: string | null },
      email: Email
    ) {
      if (!invitationMail || user.disabled_at !== null) return false
      const counted = [
        [mailsOfPlace, `${place.org.id} ${email}`],
        [mailsOfAddress, email],
        [mailsOfInviter, place.actor.id]
      ] as const
      for (const [limit, subject] of counted) if ((yield* limits.wait(limit, subject)) > 0) return false
      for (const [limit, subject] of counted) yield* limits.count(limit, subject)
      return true
    })

    /**
     * Adds a member, and creates the user if needed. What a former membership has left, which would count again, ends first, some at a
     * time. The invitation is mailed after the commit; a failure there is ignored.
     */
    const invite = method(
      "Members.invite",
      function* (
        place: Place<"member.invite">,
        email: Email,
        role: Role = "member"
      ): Effect.fn.Return<Invitation, Conflict | Forbidden | LimitExceeded, Transaction> {
        const source = role === "owner" ? yield* ownerSource(place) : sourceOf(place)
        const created_at = yield* now
        const id = yield* uuidV7
        yield* memberLimit.room(yield* repo.count({ orgId: place.org.id }))
        const user = yield* users.ensure(email)
        const { hasMore } = yield* departures.endSome({ orgId: place.org.id, subjectId: user.id })
        if (hasMore) return { hasMore, member: null }
        yield* repo
          .insert([
            {
              ...{ id, org_id: place.org.id, user_id: user.id, role },
              ...{ created_at, updated_at: created_at, accepted_at: null }
            }
          ])
          .pipe(orTaken(() => new Conflict({ message: `${email} is already a member: change the role instead` })))
        // A directory alone brings back a membership that it ended.
        yield* repo.forgetEnding({ orgId: place.org.id, email })
        yield* audit.change(source, {
          action: "org.member_invite",
          resource_type: "member",
          resource_id: user.id,
          metadata: { email, role }
        })
        if (yield* mayMail(place, user, email)) {
          yield* afterCommit(
            mailer.sendInvitation({ to: email, inviter: actorName(place.actor), org: place.org.name, role })
          )
        }
        return { hasMore: false, member: { user_id: user.id, email, name: user.name, role, created_at } }
      }
    )

    /**
     * Adds a member for a directory that speaks for the domain of the address: accepted at once, without a mail. `restore` brings back
     * what an earlier membership had, and returns what the audit entry says of that.
     */
    const provision = method(
      "Members.provision",
      function* (
        place: Place<"member.invite">,
        email: Email,
        role: Role,
        restore: (userId: UserId) => Effect.Effect<Record<string, unknown>, never, Transaction>
      ): Effect.fn.Return<{ readonly hasMore: boolean; readonly userId: UserId }, LimitExceeded, Transaction> {
        const created_at = yield* now
        const id = yield* uuidV7
        const orgId = place.org.id
        yield* memberLimit.room(yield* repo.count({ orgId }))
        const { id: userId } = yield* users.ensure(email)
        const { hasMore } = yield* departures.endSome({ orgId, subjectId: userId })
        if (hasMore) return { hasMore, userId }
        const accepted_at = created_at
        yield* repo.insert([
          { id, org_id: orgId, user_id: userId, role, created_at, updated_at: created_at, accepted_at }
        ])
        yield* audit.change(sourceOf(place), {
          action: "org.member_invite",
          resource_type: "member",
          resource_id: userId,
          metadata: { email, role, ...(yield* restore(userId)) }
        })
        return { hasMore, userId }
      }
    )

    const list = method("Members.list", function* (place: Place<"member.list">): Effect.fn.Return<
      ReadonlyArray<Member>
    > {
      // Only callers who may list rules learn which members have some.
      if (!mayAlso(place, "acl.list", { org: place.org.name, project: "", env: "" })) {
        return yield* mapInSlices(yield* repo.all(place.org.id), memberOf)
      }
      const rows = yield* repo.withAccess(place.org.id)
      return yield* mapInSlices(rows, ({ has_access, ...member }): Member => ({
        ...memberOf(member),
        has_access: has_access === 1
      }))
    })

    /**
     * Fails with LastOwner if the member is the only owner. Owners leave only to another one who has accepted to be one; a directory
     * takes none away otherwise.
     */
    const keepAnOwner = Effect.fnUntraced(function* ({ actor, org }: MemberPlace, { role, user_id }: MemberRow) {
      if (role !== "owner") return
      const { accepted, count } = yield* repo.otherOwners({ orgId: org.id, userId: user_id })
      const isOwnerLeaving = actor.id === user_id || actor.type === "service_account"
      if (accepted > 0 || (count > 0 && !isOwnerLeaving)) return
      return yield* new LastOwner({
        message:
          count === 0
            ? `organization ${org.name} would be left without an owner: make someone else one first`
            : `no other owner of organization ${org.name} has accepted the invitation yet: one of them has to use it first`
      })
    })

    const setRole = method("Members.setRole", function* (place: Place<"member.update">, userId: UserId, role: Role) {
      const updated_at = yield* now
      const member = yield* repo.find({ orgId: place.org.id, userId })
      if (member === undefined) return yield* notFound(`member ${userId}`)
      if (role !== "owner") yield* keepAnOwner(place, member)
      yield* keepVotes(place.org.id, member.email, (members) =>
        members.map((one) => (one.id === userId ? { ...one, role } : one))
      )
      yield* repo.setRole({ orgId: place.org.id, userId, role, now: updated_at })
      yield* audit.change(sourceOf(place), {
        action: "org.member_role_update",
        resource_type: "member",
        resource_id: userId,
        metadata: { email: member.email, role, before: member.role }
      })
      yield* afterCommit(notify(place.org))
      const { is_accepted: _, ...unchanged } = member
      const updated: Member = { ...unchanged, role }
      return updated
    })

    /**
     * Ends a membership with the person's access rules, delegations, places in groups and use rules, and votes for requests that wait: a
     * later invitation must not revive them. Service accounts that the person created stay; the audit entry counts them.
     */
    const end = Effect.fnUntraced(function* (
      place: Place<"member.remove" | "member.leave">,
      source: AuditSource,
      { email, role, user_id: userId }: MemberRow
    ) {
      const removed_at = yield* now
      const orgId = place.org.id
      yield* keepVotes(orgId, email, (members) => members.filter(({ id }) => id !== userId))
      yield* repo.remove({ orgId, userId, now: removed_at })
      const rules = yield* repo.removeRules({ orgId, userId, now: removed_at })
      const groups = yield* repo.removeFromGroups({ orgId, userId })
      yield* repo.removeFromLogins({ orgId, userId })
      yield* repo.removeDelegations({ orgId, userId })
      const departure = yield* departures.endSome({ orgId, subjectId: userId })
      const ended: Ended = {
        role,
        endedAt: removed_at,
        rules: rules.map(({ id }) => id),
        groups: groups.map(({ group_id }) => group_id)
      }
      const { count: service_accounts } = yield* repo.countAccountsOf({ orgId, email })
      yield* audit.change(source, {
        action: "org.member_remove",
        resource_type: "member",
        resource_id: userId,
        metadata: {
          email,
          role,
          rules_removed: rules.length,
          ...(groups.length > 0 && { groups_left: groups.length }),
          service_accounts,
          ...(place.action === "member.leave" && { left: true })
        }
      })
      yield* afterCommit(notify(place.org))
      return { departure, ended }
    })

    const remove = method("Members.remove", function* (place: Place<"member.remove">, userId: UserId) {
      const member = yield* repo.find({ orgId: place.org.id, userId })
      if (member === undefined) return yield* notFound(`member ${userId}`)
      const source = member.role === "owner" ? yield* ownerSource(place) : sourceOf(place)
      yield* keepAnOwner(place, member)
      return (yield* end(place, source, member)).departure
    })

    /** Ends a membership for a directory. Returns what it had, too. */
    const deprovision = method("Members.deprovision", function* (place: Place<"member.remove">, userId: UserId) {
      const member = yield* repo.find({ orgId: place.org.id, userId })
      if (member === undefined) return yield* notFound(`member ${userId}`)
      yield* keepAnOwner(place, member)
      return yield* end(place, sourceOf(place), member)
    })

    /** Ends the caller's own membership, also one that was never accepted. */
    const leave = method("Members.leave", function* (place: Place<"member.leave">) {
      const { actor, org } = place
      if (actor.type !== "user") return yield* denied(audit, place, "only a person leaves an organization")
      const member = yield* repo.find({ orgId: org.id, userId: actor.id })
      if (member === undefined) return yield* notFound(`a membership of yours in organization ${org.name}`)
      yield* keepAnOwner(place, member)
      return (yield* end(place, sourceOf(place), member)).departure
    })

    return { invite, provision, deprovision, leave, list, setRole, remove } as const
  }),
  dependencies: [ApprovalMails.Default, RateLimits.Default, Users.Default]
}) {}
