import { Conflict, NotFound, ValidationError } from "@coffer/domain/Errors"
import type { UserId } from "@coffer/domain/Ids"
import { userCursorOf, userOf } from "@coffer/domain/UserCursor"
import type { DisabledUser, UserPage, UserRecord } from "@coffer/domain/UserRecord"
import { Effect } from "effect"
import type { Everywhere } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import type { AuditSource } from "../audit/Told.js"
import { AuthRepo } from "../auth/Repo.js"
import { sessionMillis, sourceOfActor } from "../auth/Sessions.js"
import { Database } from "../database/Database.js"
import { ago, now } from "../database/Time.js"
import { traced } from "../tracing/Traced.js"
import { nextTick } from "../EventLoop.js"
import { type UserRow, UsersRepo } from "./Repo.js"

const defaultLimit = 50
/** Sessions that are deleted at once. */
const stride = 100

export interface UserPageRequest {
  readonly email?: string
  readonly disabled?: "true" | "false"
  readonly limit?: number
  readonly after?: string
}

const recordOf = ({ superadmin, ...row }: UserRow): UserRecord => ({ ...row, is_superadmin: superadmin === 1 })

const sourceOf = ({ actor }: Everywhere): AuditSource => ({ ...sourceOfActor(actor), via: "superadmin" })

const unknown = (id: UserId) => new NotFound({ message: `user ${id} is not there` })

/** The people whom the server knows, for superadmins. */
export class UserDirectory extends Effect.Service<UserDirectory>()("@coffer/server/UserDirectory", {
  effect: Effect.gen(function* () {
    const repo = yield* UsersRepo
    const auth = yield* AuthRepo
    const audit = yield* AuditLog
    const { transaction } = yield* Database

    /** A page of users by address. It costs the same for any number of users. */
    const list = traced("UserDirectory.list")(
      Effect.fnUntraced(function* (
        _everywhere: Everywhere,
        { after, disabled, email, limit = defaultLimit }: UserPageRequest
      ) {
        const behind = after === undefined ? undefined : yield* repo.emailOf({ id: userOf(after) })
        if (after !== undefined && behind === undefined) {
          return yield* new ValidationError({ message: "after: must be the next_cursor of an earlier page" })
        }
        const filters = {
          ...(behind !== undefined && { behind: behind.email }),
          ...(email !== undefined && { prefix: email.toLowerCase() }),
          ...(disabled !== undefined && { disabled: disabled === "true" })
        }
        const rows = yield* repo.page(filters, yield* ago(sessionMillis), limit + 1)
        const shown = rows.slice(0, limit)
        const last = shown.at(-1)
        const has_next = rows.length > limit
        const page: UserPage = {
          data: shown.map(recordOf),
          pagination: { limit, has_next, next_cursor: has_next && last !== undefined ? userCursorOf(last.id) : null }
        }
        return page
      })
    )

    const find = Effect.fnUntraced(function* (id: UserId) {
      return (yield* repo.find(id, yield* ago(sessionMillis))) ?? (yield* unknown(id))
    })

    /** Ends what lets a person in now: sessions, and a code that is on its way. Returns how many sessions there were. */
    const endWaysIn = Effect.fnUntraced(function* ({ email, id }: UserRow) {
      yield* auth.claimCode(email)
      let ended = 0
      for (;;) {
        const { length } = yield* auth.deleteSessions({ userId: id, limit: stride })
        ended += length
        if (length < stride) return ended
        yield* nextTick
      }
    })

    /** Leaves a person no way in. Fails with Conflict for the superadmin who asks, and for the last one who is enabled. */
    const disable = traced("UserDirectory.disable")(
      Effect.fnUntraced(function* (everywhere: Everywhere, id: UserId) {
        const disabled_at = yield* now
        return yield* transaction(
          Effect.gen(function* () {
            const user = yield* find(id)
            if (id === everywhere.actor.id) {
              return yield* new Conflict({ message: "you cannot disable yourself: ask another superadmin" })
            }
            // The one who asks may have been disabled meanwhile.
            if (
              user.superadmin === 1 &&
              user.disabled_at === null &&
              (yield* repo.countEnabledSuperadmins({})).count <= 1
            ) {
              return yield* new Conflict({ message: `${user.email} is the last superadmin who is enabled` })
            }
            const service_accounts = yield* repo.accountsOf(user.email)
            const changed = yield* repo.disable({ id, now: disabled_at })
            const sessions = yield* endWaysIn(user)
            if (changed.length > 0) {
              yield* audit.write(sourceOf(everywhere), {
                action: "user.disable",
                resource_type: "user",
                resource_id: id,
                metadata: { email: user.email, sessions, service_accounts: service_accounts.length }
              })
            }
            const disabled: DisabledUser = { ...recordOf(yield* find(id)), service_accounts }
            return disabled
          })
        )
      })
    )

    /** Lets a person log in again. */
    const enable = traced("UserDirectory.enable")(
      Effect.fnUntraced(function* (everywhere: Everywhere, id: UserId) {
        const updated_at = yield* now
        return yield* transaction(
          Effect.gen(function* () {
            const user = yield* find(id)
            if ((yield* repo.enable({ id, now: updated_at })).length > 0) {
              yield* audit.write(sourceOf(everywhere), {
                action: "user.enable",
                resource_type: "user",
                resource_id: id,
                metadata: { email: user.email }
              })
            }
            return recordOf(yield* find(id))
          })
        )
      })
    )

    /** Ends a person's sessions and pending login code. The person may log in again at once. */
    const endSessions = traced("UserDirectory.endSessions")(
      Effect.fnUntraced(function* (everywhere: Everywhere, id: UserId) {
        return yield* transaction(
          Effect.gen(function* () {
            const user = yield* find(id)
            const sessions = yield* endWaysIn(user)
            yield* audit.write(sourceOf(everywhere), {
              action: "user.end_sessions",
              resource_type: "user",
              resource_id: id,
              metadata: { email: user.email, sessions }
            })
            return recordOf(yield* find(id))
          })
        )
      })
    )

    return { list, disable, enable, endSessions } as const
  }),
  dependencies: [UsersRepo.Default, AuthRepo.Default]
}) {}
