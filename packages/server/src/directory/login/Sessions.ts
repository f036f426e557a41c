import type { Actor, ServiceAccountActor, UserActor } from "@coffer/domain/access/Actor"
import { Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import type { MachineName } from "@coffer/domain/directory/ClientLogin"
import { SessionId } from "@coffer/domain/base/Ids"
import type { Session, SessionKind } from "@coffer/domain/directory/Session"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { AuditLog } from "../../audit/AuditLog.js"
import { actorSource } from "../../audit/AuditEvent.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { hashToken, mintToken } from "../../keys/Token.js"
import { authRepo, type SessionRow } from "../../access/caller/credentials/Repo.js"
import { sessionLimits } from "../../access/caller/SessionLimits.js"
import { method } from "../../base/tracing/Traced.js"
import type { LoggedIn } from "./CompletedLogin.js"

const logInAgain = new Forbidden({
  message: "your logins were ended after you logged in here: log in again"
})

const maxUserAgent = 256

/** How a browser names itself: visible characters, of a length that can be stored. */
const browserOf = (userAgent = ""): string | null =>
  userAgent.replace(/[^\x20-\x7e]/g, "").slice(0, maxUserAgent) || null

const sessionOf = (
  { kind, machine, passkey_at, program, user_agent, ...row }: SessionRow,
  current: boolean
): Session => {
  const named = kind === "cookie" ? "browser" : program
  return {
    ...row,
    ...(named !== null && { program: named }),
    ...(machine !== null && { machine }),
    ...(user_agent !== null && { user_agent }),
    ...(passkey_at !== null && { passkey_at }),
    current
  }
}

/** The sessions of people. A service account lists none, and ends only that of its own request. */
export class Sessions extends Effect.Service<Sessions>()("@coffer/server/Sessions", {
  effect: Effect.gen(function* () {
    const repo = yield* authRepo
    const audit = yield* AuditLog

    /**
     * Starts a session and returns its token, of which only a hash is stored. Returns null if the person was disabled, or all
     * logins of the person were ended, since the person was proven. Call it in a transaction.
     */
    const start = method(
      "Sessions.start",
      function* (
        { ended, id: userId, provenAt }: Omit<LoggedIn, "email">,
        kind: SessionKind = "token",
        machine: MachineName | null = null,
        provenBy: "login" | "operator" = "login"
      ) {
        const created_at = timestamp(yield* Clock.currentTimeMillis)
        // First: whoever ends the logins of the person waits for this transaction, or this one for them.
        if ((yield* repo.holdUser({ id: userId, ended, now: created_at })).length === 0) return null
        const token = yield* mintToken("session")
        const id = SessionId.make(yield* uuidV7)
        const { client, ip, userAgent } = yield* RequestInfo
        yield* repo.insertSession({
          id,
          userId,
          kind,
          hash: hashToken(Redacted.value(token)),
          ip,
          // Of a program, the other header says more.
          program: kind === "token" ? client : null,
          machine,
          userAgent: kind === "cookie" ? browserOf(userAgent) : null,
          provenAt,
          provenBy,
          now: created_at
        })
        return { id, token }
      }
    )

    /** Completes a login by a session, whose token is the result. Fails with Forbidden if `start` starts none. */
    const complete = (person: LoggedIn, kind: SessionKind, machine?: MachineName) =>
      Effect.flatMap(start(person, kind, machine), (started) =>
        started === null
          ? logInAgain
          : Effect.succeed({
              result: started.token,
              resource: { resource_type: "session", resource_id: started.id } as const
            })
      )

    const list = method("Sessions.list", function* (actor: Actor) {
      if (actor.type === "service_account") return []
      const rows = yield* repo.sessionsOf(actor.id, yield* sessionLimits)
      return rows.map((row): Session => sessionOf(row, row.id === actor.sessionId))
    })

    const recordEnded = (actor: UserActor, sessions: ReadonlyArray<{ readonly id: string }>) =>
      audit.change(
        actorSource(actor),
        ...sessions.map(({ id }) => ({ action: "auth.logout", resource_type: "session", resource_id: id }) as const)
      )

    const end = method("Sessions.end", function* (actor: Actor, id: SessionId) {
      const notFound = new NotFound({ message: `session ${id} does not exist, or is not yours` })
      if (actor.type === "service_account") return yield* notFound
      const deleted = yield* repo.deleteSession({ userId: actor.id, id })
      if (deleted.length === 0) return yield* notFound
      yield* recordEnded(actor, deleted)
    })

    /**
     * Ends sessions of the actor, and the pending logins, which could start another one. All sessions may be more than a transaction
     * should hold: that of the request ends when no other is left, so that it can end them, and not at all with `others`.
     */
    const endAll = method("Sessions.endAll", function* (actor: Actor, others = false) {
      if (actor.type === "service_account") return { hasMore: false }
      const { id: userId, sessionId: id } = actor
      yield* repo.endPendingLogins(actor)
      const { ended, hasMore } = yield* repo.deleteSessions(userId, id)
      const own = hasMore || others || id === null ? [] : yield* repo.deleteSession({ userId, id })
      yield* recordEnded(actor, [...ended, ...own])
      return { hasMore }
    })

    const endOfAccount = Effect.fnUntraced(function* (actor: ServiceAccountActor) {
      const { sessionId: id, type } = actor.credential
      if (id === null) return
      const [ended] = yield* type === "key" ? repo.deleteKeySession({ id }) : repo.deleteFederated({ id })
      if (ended === undefined) return
      yield* audit.change(
        { ...actorSource(actor), orgId: actor.orgId },
        { action: "auth.logout", resource_type: "session", resource_id: ended.id }
      )
    })

    /** Ends the session of the request. Does nothing for an API key. */
    const logout = method("Sessions.logout", function* (actor: Actor) {
      if (actor.type === "service_account") return yield* endOfAccount(actor)
      if (actor.sessionId === null) return
      yield* Effect.catchTag(end(actor, actor.sessionId), "NotFound", () => Effect.void)
    })

    return { start, complete, list, end, endAll, logout } as const
  })
}) {}
