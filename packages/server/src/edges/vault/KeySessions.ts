import { type Actor, delegationOf, type ServiceAccountActor } from "@coffer/domain/access/Actor"
import { ValidationError } from "@coffer/domain/errors/Errors"
import { SessionId } from "@coffer/domain/base/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { hashToken, mintToken } from "../../keys/Token.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { method } from "../../base/tracing/Traced.js"
import { keySessionsRepo } from "./Repo.js"

const sessionMillis = 60 * 60 * 1000

/** How long a credential lasts; `ttl` in seconds, 0 without an end. */
export interface Lifetime {
  readonly created_at: string
  readonly expires_at: string | null
  readonly ttl: number
  readonly renewable: boolean
}

const secondsBetween = (from: number, to: string): number => Math.max(0, Math.ceil((Date.parse(to) - from) / 1000))

const notRenewable = new ValidationError({
  message: "only the token of a login with a key can be renewed: log in again"
})

/** Middleware lets only service accounts and delegations in, and delegations only where the contract says so. */
export const accountOf = (actor: Actor): Effect.Effect<ServiceAccountActor> =>
  actor.type === "service_account" ? Effect.succeed(actor) : Effect.dieMessage("a person called the Vault API")

/** Sessions of service accounts that signed in with a key. They last an hour, can be renewed, and end with their key. */
export class KeySessions extends Effect.Service<KeySessions>()("@coffer/server/KeySessions", {
  effect: Effect.gen(function* () {
    const repo = yield* keySessionsRepo
    const audit = yield* AuditLog

    /** The lifetime of the credential of a request. */
    const lifetime = method("KeySessions.lifetime", function* (actor: Actor) {
      const delegation = delegationOf(actor)
      if (delegation !== null) {
        const { createdAt: created_at, expiresAt: expires_at } = delegation
        const ttl = secondsBetween(yield* Clock.currentTimeMillis, expires_at)
        return { created_at, expires_at, ttl, renewable: false } satisfies Lifetime
      }
      const { credential } = yield* accountOf(actor)
      const { sessionId, type } = credential
      const row =
        type === "federation"
          ? yield* repo.ofFederation({ id: sessionId })
          : sessionId === null
            ? yield* repo.ofKey({ id: credential.id })
            : yield* repo.ofSession({ id: sessionId })
      const millis = yield* Clock.currentTimeMillis
      // It was valid when the request began.
      const { created_at, expires_at } = row ?? { created_at: timestamp(millis), expires_at: timestamp(millis) }
      return {
        created_at,
        expires_at,
        ttl: expires_at === null ? 0 : secondsBetween(millis, expires_at),
        renewable: type === "key" && sessionId !== null
      } satisfies Lifetime
    })

    /** Starts a session with the key of a request. Call it in a transaction. */
    const start = method("KeySessions.start", function* (actor: ServiceAccountActor) {
      if (actor.credential.type !== "key") return yield* Effect.dieMessage("a session of a key begins with a key")
      const keyId = actor.credential.id
      const millis = yield* Clock.currentTimeMillis
      const token = yield* mintToken("keySession")
      const id = SessionId.make(yield* uuidV7)
      yield* repo.insert({
        id,
        keyId,
        hash: hashToken(Redacted.value(token)),
        ip: (yield* RequestInfo).ip,
        now: timestamp(millis),
        expiresAt: timestamp(millis + sessionMillis)
      })
      yield* audit.change(
        { ...actorSource(actor), orgId: actor.orgId },
        { action: "auth.verify", resource_type: "session", resource_id: id, metadata: { method: "key" } }
      )
      return { token, ...(yield* lifetime({ ...actor, credential: { type: "key", id: keyId, sessionId: id } })) }
    })

    /** Makes the session of a request last for another hour. Fails with ValidationError for other credentials. */
    const renew = method("KeySessions.renew", function* (actor: ServiceAccountActor) {
      const { sessionId, type } = actor.credential
      if (type !== "key" || sessionId === null) return yield* notRenewable
      const millis = yield* Clock.currentTimeMillis
      yield* repo.renew({ id: sessionId, expiresAt: timestamp(millis + sessionMillis) })
      return yield* lifetime(actor)
    })

    return { lifetime, renew, start } as const
  })
}) {}
