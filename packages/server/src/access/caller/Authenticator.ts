import {
  type AccountCredential,
  type Actor,
  Authentication,
  type Delegated,
  type ServiceAccountActor,
  type UserActor
} from "@coffer/domain/access/Actor"
import { Unauthorized } from "@coffer/domain/errors/Errors"
import type { DelegationId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import type { SessionKind } from "@coffer/domain/directory/Session"
import type * as Headers from "@effect/platform/Headers"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { ServerConfig } from "../../base/Config.js"
import { timestamp } from "../../base/Time.js"
import { withService } from "../../base/WithService.js"
import { sessionCookie } from "../../http/Browser.js"
import { hasPrefix, hashToken, isWellFormed, type TokenKind } from "../../keys/Token.js"
import {
  type AccountActorRow,
  actorRepo,
  type DelegationActorRow,
  type FederatedActorRow,
  type KeyActorRow,
  type KeySessionActorRow,
  type SessionActorRow
} from "./ActorRepo.js"
import { makeAccountNetworks } from "./AccountNetworks.js"
import { AuthenticatedCaller, namesIn } from "./AuthenticatedCaller.js"
import { makeLastUses } from "./LastUses.js"
import { placeIn, type PlaceNames, type PlaceRow } from "../place/PlaceRow.js"
import { delegationLimit, isRecentLogin, sessionLimitsAt } from "./SessionLimits.js"

const refusal = new Unauthorized({
  message: "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key"
})

const delegationRefusal = new Unauthorized({
  message: "this delegation is unknown, has ended or was revoked: ask its person for another one (coffer delegate)"
})

/** Returns the recent proofs of a session's person. An operator's session is for people who have lost every other proof. */
const proofsOf = ({ kind, passkeys, proven_at, proven_by }: SessionActorRow, millis: number) => {
  const isRecent = proven_at !== null && isRecentLogin(proven_at, millis)
  const hasPasskey = passkeys > 0
  const isEnough = proven_by !== "login" || !hasPasskey
  return {
    loginIsRecent: isEnough && (isRecent || (kind === "token" && proven_at !== null)),
    mayRecover: isRecent,
    hasPasskey,
    passkeyIsRecent: isRecent && proven_by === "passkey"
  }
}

const userOf = (row: SessionActorRow, millis: number): UserActor => ({
  type: "user",
  id: row.user_id,
  email: row.email,
  name: row.name,
  superadmin: row.superadmin === 1,
  sessionId: row.session_id,
  sessionKind: row.kind,
  ...proofsOf(row, millis),
  delegation: null
})

/** The keys of a JSON column. What is no key of a list names none. */
export const keysIn = (keys: string | null): Delegated["keys"] => {
  if (keys === null) return null
  const found: unknown = JSON.parse(keys)
  const texts: ReadonlyArray<unknown> = Array.isArray(found) ? found : []
  return new Set(texts.filter(Predicate.isString).filter((text): text is SecretKey => secretKeyForm.is(text)))
}

const delegateOf = (row: DelegationActorRow): UserActor => ({
  type: "user",
  id: row.user_id,
  email: row.email,
  name: row.name,
  superadmin: false,
  sessionId: null,
  sessionKind: null,
  loginIsRecent: false,
  mayRecover: false,
  hasPasskey: false,
  passkeyIsRecent: false,
  delegation: {
    id: row.delegation_id,
    name: row.delegation_name,
    org: { id: row.own_org_id, name: row.own_org_name },
    places: row.places,
    permission: row.permission,
    reveal: row.reveal === 1,
    keys: keysIn(row.keys),
    isConnected: row.connected > 0,
    ofSuperadmin: row.superadmin === 1,
    createdAt: timestamp(row.created_at),
    expiresAt: timestamp(row.ends_at)
  }
})

const accountOf = (row: AccountActorRow, credential: AccountCredential): ServiceAccountActor => ({
  type: "service_account",
  id: row.account_id,
  name: row.account_name,
  orgId: row.own_org_id,
  orgName: row.own_org_name,
  project:
    row.own_project_id === null || row.own_project_name === null
      ? null
      : { id: row.own_project_id, name: row.own_project_name },
  reveal: row.reveal === 1,
  credential
})

const accountByKey = (row: KeyActorRow) => accountOf(row, { type: "key", id: row.key_id, sessionId: null })

const accountByKeySession = (row: KeySessionActorRow) =>
  accountOf(row, { type: "key", id: row.key_id, sessionId: row.session_id })

const accountByFederation = (row: FederatedActorRow) =>
  accountOf(row, {
    type: "federation",
    federation: row.federation_id,
    name: row.federation_name,
    sessionId: row.session_id
  })

const bearerIn = (headers: Headers.Headers) => /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1]

type Identified<A extends Actor = Actor> = Effect.Effect<AuthenticatedCaller<A>, Unauthorized>

/** Reads a caller: the actor, and with it the place that the request's path names. */
const callerBy = <Row extends PlaceRow, A extends Actor>(
  find: (names: PlaceNames, millis: number) => Effect.Effect<Row | undefined>,
  actorOf: (row: Row, millis: number) => A,
  recordUse: (row: Row, millis: number, request: Context.Context<never>) => void = () => undefined,
  refused = refusal,
  barred: (row: Row, request: Context.Context<never>) => Effect.Effect<never, Unauthorized> | null = () => null
): Identified<A> =>
  Effect.withFiberRuntime(({ currentContext, currentDefaultServices }) => {
    const millis = Context.get(currentDefaultServices, Clock.Clock).unsafeCurrentTimeMillis()
    const names = namesIn(currentContext)
    return Effect.flatMap(find(names, millis), (row) => {
      if (row === undefined) return refused
      const refusedHere = barred(row, currentContext)
      if (refusedHere !== null) return refusedHere
      recordUse(row, millis, currentContext)
      return Effect.succeed(new AuthenticatedCaller(actorOf(row, millis), names, placeIn(row)))
    })
  })

/**
 * Resolves the credential of each request to a caller. An API key takes precedence over a session token, as in the clients. The
 * cookie of a browser counts only without them.
 * A malformed credential fails before any lookup. Every failure returns the same error.
 */
export class Authenticator extends Effect.Service<Authenticator>()("@coffer/server/Authenticator", {
  scoped: Effect.gen(function* () {
    const actors = yield* actorRepo
    const config = yield* ServerConfig
    const lastUses = yield* makeLastUses
    const accountNetworks = yield* makeAccountNetworks
    const elsewhere = (row: AccountActorRow, request: Context.Context<never>) => accountNetworks(row, request, refusal)

    const bySession = (token: string, kind: SessionKind): Identified =>
      isWellFormed("session", token)
        ? callerBy(
            (names, millis) =>
              actors.findSession({ hash: hashToken(token), kind, ...sessionLimitsAt(millis), ...names }),
            userOf,
            lastUses.ofSession
          )
        : refusal

    const limit = delegationLimit(config)

    const byDelegation = (token: string): Identified<UserActor> =>
      isWellFormed("delegation", token)
        ? callerBy(
            (names) => actors.findDelegation({ hash: hashToken(token), ...limit, ...names }),
            delegateOf,
            lastUses.ofDelegation,
            delegationRefusal
          )
        : delegationRefusal

    const byAccount =
      <Row extends AccountActorRow>(
        kind: TokenKind,
        find: (token: PlaceNames & { readonly hash: string; readonly now: string }) => Effect.Effect<Row | undefined>,
        accountIn: (row: Row) => ServiceAccountActor
      ) =>
      (token: string): Identified<ServiceAccountActor> =>
        isWellFormed(kind, token)
          ? callerBy(
              (names, millis) => find({ hash: hashToken(token), now: timestamp(millis), ...names }),
              accountIn,
              lastUses.ofAccount,
              refusal,
              elsewhere
            )
          : refusal

    /** Resolves a service account's key. */
    const identifyKey = byAccount("apiKey", actors.findKey, accountByKey)
    const byKeySession = byAccount("keySession", actors.findKeySession, accountByKeySession)
    const byFederation = byAccount("federated", actors.findFederated, accountByFederation)

    const identify = (headers: Headers.Headers): Identified => {
      const key = headers["x-api-key"]
      if (key !== undefined) return identifyKey(key)
      const bearer = bearerIn(headers)
      if (headers.authorization !== undefined) {
        if (bearer === undefined) return refusal
        if (hasPrefix("delegation", bearer)) return byDelegation(bearer)
        return hasPrefix("federated", bearer) ? byFederation(bearer) : bySession(bearer, "token")
      }
      const cookie = sessionCookie(config, headers)
      return cookie === null ? refusal : bySession(cookie, "cookie")
    }

    /** Resolves a service account's key, or the token of one of its sessions. */
    const identifyAccount = (credential: string): Identified<ServiceAccountActor> => {
      if (hasPrefix("keySession", credential)) return byKeySession(credential)
      return hasPrefix("federated", credential) ? byFederation(credential) : identifyKey(credential)
    }

    /** Resolves what the Vault API takes as a token: a delegation, or what `identifyAccount` takes. */
    const identifyToken = (credential: string): Identified =>
      hasPrefix("delegation", credential) ? byDelegation(credential) : identifyAccount(credential)

    /** Reads the caller of a delegation. */
    const byDelegationId = (id: DelegationId): Identified<UserActor> =>
      callerBy((names) => actors.delegationById({ id, ...limit, ...names }), delegateOf, undefined, delegationRefusal)

    /** Reads the caller of a credential again, in the open transaction. Fails when the credential is no longer valid. */
    const revalidate = (actor: Actor): Identified => {
      if (actor.type === "user") {
        const { delegation, sessionId: id } = actor
        if (delegation !== null) return byDelegationId(delegation.id)
        return id === null
          ? refusal
          : callerBy((names, millis) => actors.sessionById({ id, ...sessionLimitsAt(millis), ...names }), userOf)
      }
      const { credential } = actor
      if (credential.type === "federation") {
        return callerBy(
          (names, millis) => actors.federatedById({ id: credential.sessionId, now: timestamp(millis), ...names }),
          accountByFederation,
          undefined,
          refusal,
          elsewhere
        )
      }
      if (credential.type === "request" || credential.type === "rotation" || credential.type === "scim") return refusal
      const { id, sessionId } = credential
      return sessionId === null
        ? callerBy(
            (names, millis) => actors.keyById({ id, now: timestamp(millis), ...names }),
            accountByKey,
            undefined,
            refusal,
            elsewhere
          )
        : callerBy(
            (names, millis) => actors.keySessionById({ id: sessionId, now: timestamp(millis), ...names }),
            accountByKeySession,
            undefined,
            refusal,
            elsewhere
          )
    }

    return { identify, identifyAccount, identifyKey, identifyToken, delegate: byDelegationId, revalidate } as const
  })
}) {}

/**
 * The contract's authentication. The toolkit tries the schemes in order and returns the failure of the last one. The first
 * scheme checks all headers, so that an API key takes precedence and there is only one lookup.
 */
export const AuthenticationLive = Layer.effect(
  Authentication,
  Effect.map(Authenticator, ({ identify }) => {
    const authenticate = withService(HttpServerRequest.HttpServerRequest, ({ headers }) => identify(headers))
    const refused = withService(
      HttpServerRequest.HttpServerRequest,
      ({ headers }): Effect.Effect<never, Unauthorized> =>
        hasPrefix("delegation", bearerIn(headers) ?? "") ? delegationRefusal : refusal
    )
    return Authentication.of({ session: () => authenticate, apiKey: () => refused, cookie: () => refused })
  })
).pipe(Layer.provide(Authenticator.Default))
