import {
  type AccountCredential,
  type Actor,
  Authentication,
  type ServiceAccountActor,
  type UserActor
} from "@coffer/domain/Actor"
import { Unauthorized } from "@coffer/domain/Errors"
import type { OrgId } from "@coffer/domain/Ids"
import { envNameForm, type Form, orgNameForm, projectNameForm } from "@coffer/domain/NameForms"
import type { SessionKind } from "@coffer/domain/Session"
import { type Headers, HttpRouter, HttpServerRequest } from "@effect/platform"
import { Clock, Context, Effect, Layer, Option, Queue } from "effect"
import { ServerConfig } from "../base/Config.js"
import { Database, Transaction } from "../database/Database.js"
import { timestamp } from "../base/Time.js"
import { sessionCookie } from "../http/Browser.js"
import { hasPrefix, hashToken, isWellFormed } from "../keys/Token.js"
import {
  type AccountActorRow,
  ActorRepo,
  type FederatedActorRow,
  type KeyActorRow,
  type KeySessionActorRow,
  type SessionActorRow
} from "./ActorRepo.js"
import { type PlaceNames, type PlaceRow, placesIn, type RowWithPlace } from "./PlaceRow.js"
import { AuthRepo } from "./credentials/Repo.js"
import { isRecentLogin, sessionLimitsAt } from "./SessionLimits.js"

const refusal = new Unauthorized({
  message: "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key"
})

const nowhere: PlaceNames = { org: null, project: null, env: null }

/** Returns the name if well-formed, else null: PostgreSQL rejects text with a zero byte. */
const nameIn = (form: Form<string>, text: string | undefined) => (text !== undefined && form.is(text) ? text : null)

/** The names on the path of the request, before the contract has checked them. */
const namesIn = (context: Context.Context<never>): PlaceNames =>
  Option.match(Context.getOption(context, HttpRouter.RouteContext), {
    onNone: () => nowhere,
    onSome: ({ params }) => ({
      org: nameIn(orgNameForm, params["org_name"]),
      project: nameIn(projectNameForm, params["project_name"]),
      env: nameIn(envNameForm, params["env_name"])
    })
  })

/** A place as it was read together with an actor. */
interface FoundPlace {
  readonly names: PlaceNames
  /** The transaction that read it. */
  readonly within: Option.Option<Context.Tag.Service<Transaction>>
  readonly rows: ReadonlyArray<PlaceRow>
  /** Whether the rows were used: whoever asks again has to read them again. */
  readonly isTaken: boolean
}

const isInside = (within: FoundPlace["within"], context: Context.Context<never>): boolean =>
  Option.getOrNull(within) === Option.getOrNull(Context.getOption(context, Transaction))

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
    const actors = yield* ActorRepo
    const places = new WeakMap<Actor, FoundPlace>()
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
      loginIsRecent: row.proven_at !== null && (row.kind === "token" || isRecentLogin(row.proven_at, millis))
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

    /** Reads the actor of a credential, and with it the place that the request's path names. */
    const found = <Row extends RowWithPlace, A extends Actor>(
      find: (names: PlaceNames) => Effect.Effect<ReadonlyArray<Row>>,
      actorOf: (row: Row) => A,
      touch: (row: Row) => void = () => {}
    ): Effect.Effect<A, Unauthorized> =>
      Effect.withFiberRuntime(({ currentContext }) => {
        const names = namesIn(currentContext)
        return Effect.flatMap(find(names), (rows) => {
          const row = rows[0]
          if (row === undefined) return refusal
          touch(row)
          const actor = actorOf(row)
          places.set(actor, {
            names,
            within: Context.getOption(currentContext, Transaction),
            rows: placesIn(rows),
            isTaken: false
          })
          return Effect.succeed(actor)
        })
      })

    /**
     * The place as it was read together with the actor, once: whoever asks again later has to read it again. Undefined if the
     * path named another place, or in another transaction.
     */
    const takePlace = (actor: Actor, names: PlaceNames): Effect.Effect<ReadonlyArray<PlaceRow> | undefined> =>
      Effect.withFiberRuntime(({ currentContext }) => {
        const place = places.get(actor)
        if (place === undefined || place.isTaken) return Effect.succeed(undefined)
        places.set(actor, { ...place, isTaken: true })
        const isSame =
          place.names.org === names.org && place.names.project === names.project && place.names.env === names.env
        return Effect.succeed(isSame && isInside(place.within, currentContext) ? place.rows : undefined)
      })

    /** The organization that the request's path named when the actor was read; null if there was none. */
    const orgOf = (actor: Actor): OrgId | null => places.get(actor)?.rows[0]?.org_id ?? null

    const touchSession = (row: SessionActorRow, millis: number): void => {
      const { last_used_at, session_id, user_id } = row
      const now = timestamp(millis)
      if (isStale(last_used_at, millis)) {
        lastUses.unsafeOffer(
          Effect.zipRight(repo.touchSession({ id: session_id, now }), repo.touchUser({ id: user_id, now }))
        )
      }
    }

    const touchAccount = ({ account_id, last_used_at }: AccountActorRow, millis: number): void => {
      if (isStale(last_used_at, millis)) {
        lastUses.unsafeOffer(repo.touchAccount({ id: account_id, now: timestamp(millis) }))
      }
    }

    const bySession = (token: string, kind: SessionKind, millis: number): Effect.Effect<Actor, Unauthorized> =>
      isWellFormed("session", token)
        ? found(
            (names) => actors.findSession({ hash: hashToken(token), kind, ...sessionLimitsAt(millis), ...names }),
            (row) => userOf(row, millis),
            (row) => touchSession(row, millis)
          )
        : refusal

    const byKey = (key: string, millis: number): Effect.Effect<ServiceAccountActor, Unauthorized> =>
      isWellFormed("apiKey", key)
        ? found(
            (names) => actors.findKey({ hash: hashToken(key), now: timestamp(millis), ...names }),
            accountByKey,
            (row) => touchAccount(row, millis)
          )
        : refusal

    const byKeySession = (token: string, millis: number): Effect.Effect<ServiceAccountActor, Unauthorized> =>
      isWellFormed("keySession", token)
        ? found(
            (names) => actors.findKeySession({ hash: hashToken(token), now: timestamp(millis), ...names }),
            accountByKeySession,
            (row) => touchAccount(row, millis)
          )
        : refusal

    const byFederation = (token: string, millis: number): Effect.Effect<ServiceAccountActor, Unauthorized> =>
      isWellFormed("federated", token)
        ? found(
            (names) => actors.findFederated({ hash: hashToken(token), now: timestamp(millis), ...names }),
            accountByFederation,
            (row) => touchAccount(row, millis)
          )
        : refusal

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

    const again = (actor: Actor, millis: number): Effect.Effect<Actor, Unauthorized> => {
      const now = timestamp(millis)
      if (actor.type === "user") {
        return found(
          (names) => actors.sessionById({ id: actor.sessionId, ...sessionLimitsAt(millis), ...names }),
          (row) => userOf(row, millis)
        )
      }
      const { credential } = actor
      if (credential.type === "federation") {
        return found((names) => actors.federatedById({ id: credential.sessionId, now, ...names }), accountByFederation)
      }
      const { id, sessionId } = credential
      return sessionId === null
        ? found((names) => actors.keyById({ id, now, ...names }), accountByKey)
        : found((names) => actors.keySessionById({ id: sessionId, now, ...names }), accountByKeySession)
    }

    /** Reads the actor of a credential again, in the open transaction. Fails when the credential is no longer valid. */
    const revalidate = (actor: Actor): Effect.Effect<Actor, Unauthorized> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => again(actor, millis))

    /** Resolves a service account's key. */
    const identifyKey = (key: string): Effect.Effect<ServiceAccountActor, Unauthorized> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => byKey(key, millis))

    /** Resolves what the Vault API takes as a token: the key of a service account, or the token of one of its sessions. */
    const identifyAccount = (credential: string): Effect.Effect<ServiceAccountActor, Unauthorized> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => {
        if (hasPrefix("keySession", credential)) return byKeySession(credential, millis)
        return hasPrefix("federated", credential) ? byFederation(credential, millis) : byKey(credential, millis)
      })

    return { identify, identifyAccount, identifyKey, orgOf, revalidate, takePlace } as const
  }),
  dependencies: [ActorRepo.Default, AuthRepo.Default]
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
