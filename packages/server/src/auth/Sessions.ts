import { type Actor, actorName, type UserActor } from "@coffer/domain/Actor"
import { NotFound } from "@coffer/domain/Errors"
import { SessionId, type UserId } from "@coffer/domain/Ids"
import type { Session } from "@coffer/domain/Session"
import { Clock, Effect, Redacted } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import type { AuditSource } from "../audit/Told.js"
import { Database } from "../database/Database.js"
import { ago, timestamp } from "../database/Time.js"
import { uuidV7 } from "../database/Uuid.js"
import { RequestInfo } from "../http/RequestInfo.js"
import { hashToken, mintToken } from "../keys/Token.js"
import { nextTick } from "../EventLoop.js"
import { AuthRepo } from "./Repo.js"
import { traced } from "../tracing/Traced.js"

/** How many sessions are ended before other work gets its turn. */
const stride = 100

/** A session dies at 30 days of age, used or not. */
export const sessionMillis = 30 * 24 * 60 * 60 * 1000

/** Who an entry of the audit log names, for what belongs to no organization. */
export const sourceOfActor = (actor: Actor): AuditSource => ({
  actor: { type: actor.type, id: actor.id, name: actorName(actor) },
  orgId: null
})

/** People's sessions. A service account has none: it ends nothing and lists nothing. */
export class Sessions extends Effect.Service<Sessions>()("@coffer/server/Sessions", {
  effect: Effect.gen(function* () {
    const repo = yield* AuthRepo
    const audit = yield* AuditLog
    const { transaction } = yield* Database

    /** Starts a session, inside the caller's transaction; the token is known to the caller alone. */
    const start = traced("Sessions.start")(
      Effect.fnUntraced(function* (userId: UserId) {
        const token = yield* mintToken("session")
        const created_at = timestamp(yield* Clock.currentTimeMillis)
        const id = SessionId.make(yield* uuidV7)
        yield* repo.insertSession({
          id,
          userId,
          hash: hashToken(Redacted.value(token)),
          ip: (yield* RequestInfo).ip,
          now: created_at
        })
        yield* repo.touchUser({ id: userId, now: created_at })
        return { id, token }
      })
    )

    const list = traced("Sessions.list")(
      Effect.fnUntraced(function* (actor: Actor) {
        if (actor.type === "service_account") return []
        const rows = yield* repo.sessionsOf(actor.id, yield* ago(sessionMillis))
        return rows.map((row): Session => ({ ...row, current: row.id === actor.sessionId }))
      })
    )

    const ended = (actor: UserActor, sessions: ReadonlyArray<{ readonly id: string }>) =>
      audit.write(
        sourceOfActor(actor),
        ...sessions.map(({ id }) => ({ action: "auth.logout", resource_type: "session", resource_id: id }) as const)
      )

    /** Ends one session of the actor's own. */
    const end = traced("Sessions.end")(
      Effect.fnUntraced(function* (actor: Actor, id: SessionId) {
        const gone = new NotFound({ message: `session ${id} is not there, or not yours` })
        if (actor.type === "service_account") return yield* gone
        yield* transaction(
          Effect.gen(function* () {
            const deleted = yield* repo.deleteSession({ userId: actor.id, id })
            if (deleted.length === 0) return yield* gone
            yield* ended(actor, deleted)
          })
        )
      })
    )

    /** Ends all sessions of the actor's, and the pending login code that would start another one. */
    const endAll = traced("Sessions.endAll")(
      Effect.fnUntraced(function* (actor: Actor) {
        if (actor.type === "service_account") return
        yield* transaction(
          Effect.gen(function* () {
            yield* repo.claimCode(actor.email)
            const all: Array<{ readonly id: string }> = []
            for (;;) {
              const deleted = yield* repo.deleteSessions({ userId: actor.id, limit: stride })
              all.push(...deleted)
              if (deleted.length < stride) break
              yield* nextTick
            }
            yield* ended(actor, all)
          })
        )
      })
    )

    /** Ends the session that asks; an API key asks in vain and without harm. */
    const logout = traced("Sessions.logout")(
      Effect.fnUntraced(function* (actor: Actor) {
        if (actor.type === "service_account") return
        yield* Effect.catchTag(end(actor, actor.sessionId), "NotFound", () => Effect.void)
      })
    )

    return { start, list, end, endAll, logout } as const
  }),
  dependencies: [AuthRepo.Default]
}) {}
