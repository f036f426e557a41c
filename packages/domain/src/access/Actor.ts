import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import type * as Array from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Unauthorized } from "../errors/Errors.js"
import type { DelegablePermission } from "../directory/Delegation.js"
import type {
  ConnectionId,
  ApiKeyId,
  DelegationId,
  EnvId,
  FederationId,
  LeaseId,
  OrgId,
  ProjectId,
  RequestId,
  RotationId,
  ScimTokenId,
  ServiceAccountId,
  SessionId,
  UserId
} from "../base/Ids.js"
import type { SessionKind } from "../directory/Session.js"
import type {
  Email,
  EnvName,
  FederationName,
  OrgName,
  ProjectName,
  SecretKey,
  ServiceAccountName
} from "../base/Names.js"

export interface UserActor {
  readonly type: "user"
  readonly id: UserId
  readonly email: Email
  readonly name: string
  /** Never true by a delegation, which gives no right on the whole server. */
  readonly superadmin: boolean
  /** Null for a delegation. */
  readonly sessionId: SessionId | null
  /** Null for a delegation. */
  readonly sessionKind: SessionKind | null
  /**
   * Whether calls that need a recent login (`RecentLogin`) are allowed. A browser's session loses that 15 minutes after the
   * person proved who they are. The session of a program keeps it, if the person gave it such a proof. Of a person with a
   * passkey, only the passkey is one.
   */
  readonly loginIsRecent: boolean
  /** Whether the person logged in within 15 minutes by any means: what removes a passkey that was lost. */
  readonly mayRecover: boolean
  readonly hasPasskey: boolean
  /** Whether the session was proven by a passkey in the last 15 minutes. */
  readonly passkeyIsRecent: boolean
  /** Null for a session: the person. */
  readonly delegation: Delegated | null
}

/** An environment of a delegation. */
export interface DelegatedPlace {
  readonly project: { readonly id: ProjectId; readonly name: ProjectName }
  readonly env: { readonly id: EnvId; readonly name: EnvName }
}

/** The part of a person's rights in some environments that an agent or a script has. */
export interface Delegated {
  readonly id: DelegationId
  readonly name: string
  readonly org: { readonly id: OrgId; readonly name: OrgName }
  /** Those that were neither removed nor have ended, in the order of the person. */
  readonly places: Array.NonEmptyReadonlyArray<DelegatedPlace>
  readonly permission: DelegablePermission
  readonly reveal: boolean
  /** The only keys that it may name; null: all. */
  readonly keys: ReadonlySet<SecretKey> | null
  /** Whether a program got it by OAuth, and can ask the person for more. */
  readonly isConnected: boolean
  /** Whether the person is a superadmin, whose rights in organizations it may need. */
  readonly ofSuperadmin: boolean
  readonly createdAt: string
  readonly expiresAt: string
}

export interface ServiceAccountActor {
  readonly type: "service_account"
  readonly id: ServiceAccountId
  readonly name: ServiceAccountName
  readonly orgId: OrgId
  readonly orgName: OrgName
  readonly project: { readonly id: ProjectId; readonly name: ProjectName } | null
  readonly reveal: boolean
  readonly credential: AccountCredential
}

/**
 * How a service account signed in: by a key, of which it has two during a rotation, or by a token of a federation's issuer. A
 * key with a session is that of a login through the Vault API.
 */
export type AccountCredential =
  | { readonly type: "key"; readonly id: ApiKeyId; readonly sessionId: SessionId | null }
  | {
      readonly type: "federation"
      readonly federation: FederationId
      readonly name: FederationName
      readonly sessionId: SessionId
    }
  /** It asked for a change that people have approved since: there is no credential. */
  | { readonly type: "request"; readonly id: RequestId; readonly sessionId: null }
  /** No account at all: a rotation writes what it renewed, or a lease ends, and the log has it as the server's own act. */
  | { readonly type: "rotation"; readonly id: ConnectionId | LeaseId | RotationId; readonly sessionId: null }
  /** No account at all: a directory changes people and groups by SCIM, and the log has it as the server's own act. */
  | { readonly type: "scim"; readonly id: ScimTokenId; readonly sessionId: null }

/** The authenticated caller, without its rights: each request reads those from the database. */
export type Actor = UserActor | ServiceAccountActor

/** Returns the display name: a user's e-mail address, or a service account's name. */
export const actorName = (actor: Actor): string => (actor.type === "user" ? actor.email : actor.name)

/** The delegation of an actor; null for others. */
export const delegationOf = (actor: Actor): Delegated | null => (actor.type === "user" ? actor.delegation : null)

/** The only keys that an actor may name, by its credential; null: all. */
export const keysOf = (actor: Actor): ReadonlySet<SecretKey> | null => delegationOf(actor)?.keys ?? null

/** Whether an actor may be given values, by its credential: its rights may still forbid it. */
export const mayReveal = (actor: Actor): boolean =>
  actor.type === "user" ? (actor.delegation?.reveal ?? true) : actor.reveal

/** Says by which federation or delegation the actor signed in; null for a key or a person. */
export const viaOf = (actor: Actor): string | null => {
  if (actor.type === "user") return actor.delegation === null ? null : `delegation ${actor.delegation.name}`
  return actor.credential.type === "federation" ? `federation ${actor.credential.name}` : null
}

/** The caller of a request. */
export interface Caller {
  readonly actor: Actor
}

/** The caller by the last validation of the credential: a change validates it again, for its transaction. */
export class CurrentCaller extends Context.Tag("@coffer/domain/Actor/CurrentCaller")<CurrentCaller, Caller>() {}

export const currentActor = Effect.map(CurrentCaller, ({ actor }) => actor)

/** Authenticates the caller by the token of a session (bearer), a service account's key, or the cookie of a browser's session. */
export class Authentication extends HttpApiMiddleware.Tag<Authentication>()("@coffer/domain/Authentication", {
  provides: CurrentCaller,
  failure: Unauthorized,
  security: {
    session: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "A person's session token (svc_st_…), from /api/auth/verify, a delegation's (svc_dt_…), from /api/auth/delegations, or a service account's (svc_ft_…), from /api/auth/federate"
      )
    ),
    apiKey: HttpApiSecurity.apiKey({ in: "header", key: "X-API-Key" }).pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "A service account's key (svc_sa_…)")
    ),
    cookie: HttpApiSecurity.apiKey({ in: "cookie", key: "__Host-coffer" }).pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "A browser's session, from /login or /api/auth/verify. It counts only for requests of the server's own pages, with the header X-Coffer: 1"
      )
    )
  }
}) {}
