import {
  type AccountCredential,
  type Actor,
  Authentication,
  type ServiceAccountActor,
  type UserActor
} from "@coffer/domain/Actor"
import { Unauthorized } from "@coffer/domain/Errors"
import type { SessionKind } from "@coffer/domain/Session"
import { type Headers, HttpServerRequest } from "@effect/platform"
import { Clock, Effect, Layer, Queue } from "effect"
import { ServerConfig } from "../Config.js"
import { Database, type Transaction } from "../database/Database.js"
import { timestamp } from "../database/Time.js"
import { sessionCookie } from "../http/Browser.js"
import { hasPrefix, hashToken, isWellFormed } from "../keys/Token.js"
import {
  type AccountActorRow,
  AuthRepo,
  type FederatedActorRow,
  type KeyActorRow,
  type SessionActorRow
} from "./Repo.js"
import { isRecentLogin, sessionLimitsAt } from "./SessionLimits.js"

const refusal = new Unauthorized({
  message: "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key"
})

const touchEveryMillis = 60_000
/** How many last uses one transaction records. */
const touchesAtOnce = 100

/**
 * Resolves the credential of each request to an actor. An API key takes precedence over a session token, as in the clients. The
 * cookie of a browser counts only without them.
 * A malformed credential fails before any lookup. Every failure returns the same error.
 */
export class Authenticator extends Effect.Service<Authenticator>()("@coffer/server/Authenticator", {
  scoped: Effect.gen(function* () {
    const repo = yield* AuthRepo
    const config = yield* ServerConfig
    const { transaction } = yield* Database
    const lastUses = yield* Queue.dropping<Effect.Effect<void, never, Transaction>>(1_000)
    // Together: each transaction waits for the disk.
    yield* Queue.takeBetween(lastUses, 1, touchesAtOnce).pipe(
      Effect.flatMap((touches) =>
        Effect.catchAllCause(transaction(Effect.all(touches, { discard: true })), (cause) =>
          Effect.logWarning("the last use of a credential was not recorded", cause)
        )
      ),
      Effect.forever,
      Effect.forkScoped
    )

    const isStale = (lastUsedAt: string | null, millis: number): boolean =>
      lastUsedAt === null || lastUsedAt < timestamp(millis - touchEveryMillis)

    const userOf = (row: SessionActorRow, millis: number): UserActor => ({
      type: "user",
      id: row.user_id,
      email: row.email,
      name: row.name,
      superadmin: row.superadmin === 1,
      sessionId: row.session_id,
      loginIsRecent: row.kind === "token" || isRecentLogin(row.created_at, millis)
    })

    const accountOf = (row: AccountActorRow, credential: AccountCredential): ServiceAccountActor => ({
      type: "service_account",
      id: row.account_id,
      name: row.name,
      orgId: row.org_id,
      orgName: row.org_name,
      project:
        row.project_id === null || row.project_name === null ? null : { id: row.project_id, name: row.project_name },
      reveal: row.reveal === 1,
      credential
    })

    const accountByKey = (row: KeyActorRow) => accountOf(row, { type: "key", id: row.key_id })

    const accountByFederation = (row: FederatedActorRow) =>
      accountOf(row, {
        type: "federation",
        federation: row.federation_id,
        name: row.federation_name,
        sessionId: row.session_id
      })

    const touchSession = ({ session_id, user_id }: SessionActorRow, now: string) =>
      Effect.zipRight(repo.touchSession({ id: session_id, now }), repo.touchUser({ id: user_id, now }))

    const bySession = Effect.fnUntraced(function* (token: string, kind: SessionKind, millis: number) {
      if (!isWellFormed("session", token)) return yield* refusal
      const row = yield* repo.findSession({ hash: hashToken(token), kind, ...sessionLimitsAt(millis) })
      if (row === undefined) return yield* refusal
      if (isStale(row.last_used_at, millis)) lastUses.unsafeOffer(touchSession(row, timestamp(millis)))
      return userOf(row, millis)
    })

    const touchAccount = ({ account_id, last_used_at }: AccountActorRow, millis: number): void => {
      if (isStale(last_used_at, millis)) {
        lastUses.unsafeOffer(repo.touchAccount({ id: account_id, now: timestamp(millis) }))
      }
    }

    const byKey = Effect.fnUntraced(function* (key: string, millis: number) {
      if (!isWellFormed("apiKey", key)) return yield* refusal
      const row = yield* repo.findKey({ hash: hashToken(key), now: timestamp(millis) })
      if (row === undefined) return yield* refusal
      touchAccount(row, millis)
      return accountByKey(row)
    })

    const byFederation = Effect.fnUntraced(function* (token: string, millis: number) {
      if (!isWellFormed("federated", token)) return yield* refusal
      const row = yield* repo.findFederated({ hash: hashToken(token), now: timestamp(millis) })
      if (row === undefined) return yield* refusal
      touchAccount(row, millis)
      return accountByFederation(row)
    })

    const identify = (headers: Headers.Headers): Effect.Effect<Actor, Unauthorized> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis): Effect.Effect<Actor, Unauthorized> => {
        const key = headers["x-api-key"]
        if (key !== undefined) return byKey(key, millis)
        const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1]
        if (headers.authorization !== undefined) {
          if (bearer === undefined) return refusal
          return hasPrefix("federated", bearer) ? byFederation(bearer, millis) : bySession(bearer, "token", millis)
        }
        const cookie = sessionCookie(config, headers)
        return cookie === null ? refusal : bySession(cookie, "cookie", millis)
      })

    const valid =
      <Row, A extends Actor>(actorOf: (row: Row) => A) =>
      (row: Row | undefined): Effect.Effect<A, Unauthorized> =>
        row === undefined ? refusal : Effect.succeed(actorOf(row))

    const again = (actor: Actor, millis: number): Effect.Effect<Actor, Unauthorized> => {
      if (actor.type === "user") {
        const session = repo.sessionById({ id: actor.sessionId, ...sessionLimitsAt(millis) })
        return Effect.flatMap(
          session,
          valid((row) => userOf(row, millis))
        )
      }
      const { credential } = actor
      const now = timestamp(millis)
      return credential.type === "key"
        ? Effect.flatMap(repo.keyById({ id: credential.id, now }), valid(accountByKey))
        : Effect.flatMap(repo.federatedById({ id: credential.sessionId, now }), valid(accountByFederation))
    }

    /** Reads the actor of a credential again, in the open transaction. Fails when the credential is no longer valid. */
    const revalidate = (actor: Actor): Effect.Effect<Actor, Unauthorized> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => again(actor, millis))

    return { identify, revalidate } as const
  }),
  dependencies: [AuthRepo.Default]
}) {}

/**
 * The contract's authentication. The toolkit tries the schemes in order and returns the failure of the last one. The first
 * scheme checks all headers, so that an API key takes precedence and there is only one lookup.
 */
export const AuthenticationLive = Layer.effect(
  Authentication,
  Effect.map(Authenticator, ({ identify }) => {
    const authenticate = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => identify(headers))
    return Authentication.of({ session: () => authenticate, apiKey: () => refusal, cookie: () => refusal })
  })
).pipe(Layer.provide(Authenticator.Default))
