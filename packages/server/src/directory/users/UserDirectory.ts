import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import type { UserId } from "@coffer/domain/base/Ids"
import { userCursorOf, userOf } from "@coffer/domain/directory/UserCursor"
import type { DisabledUser, UserPage, UserRecord } from "@coffer/domain/directory/UserRecord"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import type { ServerPlace } from "../../access/ServerPlace.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { superadminSource } from "../../audit/AuditEvent.js"
import { authRepo } from "../../access/caller/credentials/Repo.js"
import { makeVotingNotices } from "../../access/gate/VotingNotices.js"
import { nextTick } from "../../base/EventLoop.js"
import { afterCommit } from "../../database/Database.js"
import { endedAtOnce } from "../../database/InSteps.js"
import { sessionLimits } from "../../access/caller/SessionLimits.js"
import { now } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { passkeysRepo } from "../passkeys/Repo.js"
import { type UserRow, usersRepo } from "./Repo.js"

const defaultLimit = 50
const orgsAtOnce = 200

const none = { ended: [], hasMore: false }

export interface UserPageRequest {
  readonly email?: string
  readonly disabled?: "true" | "false"
  readonly limit?: number
  readonly after?: string
}

const userRecord = ({ superadmin, ...row }: UserRow): UserRecord => ({ ...row, is_superadmin: superadmin === 1 })

/** All users of the server, for superadmins. */
export class UserDirectory extends Effect.Service<UserDirectory>()("@coffer/server/Users/UserDirectory", {
  scoped: Effect.gen(function* () {
    const repo = yield* usersRepo
    const notify = yield* makeVotingNotices
    const background = yield* FiberSet.make()
    const auth = yield* authRepo
    const passkeys = yield* passkeysRepo
    const audit = yield* AuditLog

    /** Returns a page of users sorted by address. The cost does not depend on the number of users. */
    const list = method(
      "UserDirectory.list",
      function* (_everywhere: ServerPlace, { after, disabled, email, limit = defaultLimit }: UserPageRequest) {
        const behind = after === undefined ? undefined : yield* repo.emailOf({ id: userOf(after) })
        if (after !== undefined && behind === undefined) {
          return yield* new ValidationError({ message: "after: must be the next_cursor of an earlier page" })
        }
        const filters = {
          ...(behind !== undefined && { behind: behind.email }),
          ...(email !== undefined && { prefix: email.toLowerCase() }),
          ...(disabled !== undefined && { disabled: disabled === "true" })
        }
        const rows = yield* repo.page(filters, yield* sessionLimits, limit + 1)
        const shown = rows.slice(0, limit)
        const last = shown.at(-1)
        const has_next = rows.length > limit
        const page: UserPage = {
          data: shown.map(userRecord),
          pagination: { limit, has_next, next_cursor: has_next && last !== undefined ? userCursorOf(last.id) : null }
        }
        return page
      }
    )

    const find = Effect.fnUntraced(function* (id: UserId) {
      return (yield* repo.find(id, yield* sessionLimits)) ?? (yield* notFound(`user ${id}`))
    })

    /** Removes votes for requests that wait, some at a time. Returns whether there may be more. */
    const removeVotes = (id: UserId) =>
      Effect.map(repo.removeVotes({ id, limit: endedAtOnce }), ({ length }) => length === endedAtOnce)

    /** Ends a user's pending logins, and sessions: all, or as many as a transaction should hold. */
    const endLogins = ({ email, id }: UserRow) =>
      Effect.zipRight(auth.endPendingLogins({ email, id }), auth.deleteSessions(id))

    const recordEnded = (serverPlace: ServerPlace, { email, id }: UserRow, sessions: number) =>
      audit.change(superadminSource(serverPlace.actor), {
        action: "user.end_sessions",
        resource_type: "user",
        resource_id: id,
        metadata: { email, sessions }
      })

    /** Tells the owners of the user's organizations where nobody could vote any more. */
    const notifyAll = (userId: UserId, after = ""): Effect.Effect<void> =>
      Effect.flatMap(repo.organizationsOf({ userId, after, limit: orgsAtOnce }), (orgs) =>
        Effect.zipRight(
          Effect.forEach(orgs, (org) => Effect.zipRight(nextTick, notify(org)), { discard: true }),
          Effect.suspend(() => {
            const last = orgs.at(-1)
            return last === undefined || orgs.length < orgsAtOnce ? Effect.void : notifyAll(userId, last.id)
          })
        )
      )

    /** In the background: a person may be in thousands. */
    const notifyLater = (userId: UserId) =>
      notifyAll(userId).pipe(
        Effect.catchAllCause((cause) => Effect.logError("a user's organizations were not read", cause)),
        Effect.interruptible,
        (notified) => FiberSet.run(background, notified)
      )

    /**
     * Disables a user, whose passkeys and votes for requests that wait go. Fails with Conflict for oneself, and for the last enabled
     * superadmin. Sessions and votes that are left for another transaction count no more.
     */
    const disable = method("UserDirectory.disable", function* (serverPlace: ServerPlace, id: UserId) {
      const disabled_at = yield* now
      const user = yield* find(id)
      if (id === serverPlace.actor.id) {
        return yield* new Conflict({ message: "you cannot disable yourself: ask another superadmin" })
      }
      if (user.superadmin === 1 && user.disabled_at === null && (yield* repo.countEnabledSuperadmins({})).count <= 1) {
        return yield* new Conflict({
          message: `${user.email} is the last enabled superadmin: enable another one first`
        })
      }
      const service_accounts = yield* repo.accountsOf(user.email)
      const changed = yield* repo.disable({ id, now: disabled_at })
      const { ended, hasMore: hasSessions } = yield* endLogins(user)
      const removed = yield* passkeys.removeAll({ userId: id })
      const hasVotes = yield* removeVotes(id)
      if (changed.length > 0) {
        const counts = {
          sessions: ended.length,
          service_accounts: service_accounts.length,
          ...(removed.length > 0 && { passkeys: removed.length })
        }
        yield* audit.change(superadminSource(serverPlace.actor), {
          action: "user.disable",
          resource_type: "user",
          resource_id: id,
          metadata: { email: user.email, ...counts }
        })
        yield* afterCommit(notifyLater(id))
      } else if (ended.length > 0) yield* recordEnded(serverPlace, user, ended.length)
      const disabled: DisabledUser = { ...userRecord(yield* find(id)), service_accounts }
      return { user: disabled, hasMore: hasSessions || hasVotes }
    })

    /** Enables a user, once no session and no vote is left of the time before: it would count again. */
    const enable = method("UserDirectory.enable", function* (serverPlace: ServerPlace, id: UserId) {
      const updated_at = yield* now
      const user = yield* find(id)
      const isEnabled = user.disabled_at === null
      const { ended, hasMore: hasSessions } = isEnabled ? none : yield* auth.deleteSessions(id)
      const hasVotes = !isEnabled && (yield* removeVotes(id))
      const hasMore = hasSessions || hasVotes
      if (ended.length > 0) yield* recordEnded(serverPlace, user, ended.length)
      if (!hasMore && (yield* repo.enable({ id, now: updated_at })).length > 0) {
        yield* audit.change(superadminSource(serverPlace.actor), {
          action: "user.enable",
          resource_type: "user",
          resource_id: id,
          metadata: { email: user.email }
        })
      }
      return { user: userRecord(yield* find(id)), hasMore }
    })

    /** Ends a user's sessions, some at a time, and pending logins. The user can log in again at once. */
    const endSessions = method("UserDirectory.endSessions", function* (serverPlace: ServerPlace, id: UserId) {
      const user = yield* find(id)
      const { ended, hasMore } = yield* endLogins(user)
      yield* recordEnded(serverPlace, user, ended.length)
      return { user: userRecord(yield* find(id)), hasMore }
    })

    return { list, disable, enable, endSessions } as const
  }),
  dependencies: [ApprovalMails.Default]
}) {}
