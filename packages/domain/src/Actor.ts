import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "@effect/platform"
import { Context } from "effect"
import { Unauthorized } from "./Errors.js"
import type { ApiKeyId, OrgId, ProjectId, ServiceAccountId, SessionId, UserId } from "./Ids.js"
import type { Email, OrgName, ProjectName, ServiceAccountName } from "./Names.js"

export interface UserActor {
  readonly type: "user"
  readonly id: UserId
  readonly email: Email
  readonly name: string
  readonly superadmin: boolean
  readonly sessionId: SessionId
}

export interface ServiceAccountActor {
  readonly type: "service_account"
  readonly id: ServiceAccountId
  readonly name: ServiceAccountName
  readonly orgId: OrgId
  readonly orgName: OrgName
  readonly project: { readonly id: ProjectId; readonly name: ProjectName } | null
  readonly reveal: boolean
  /** The key that it came with; an account can have two for a while. */
  readonly keyId: ApiKeyId
}

/** Who is calling. Rights are not part of it: they are read anew for each request. */
export type Actor = UserActor | ServiceAccountActor

/** The name that people know an actor by: an e-mail address, or a service account's name. */
export const actorName = (actor: Actor): string => (actor.type === "user" ? actor.email : actor.name)

export class CurrentActor extends Context.Tag("@coffer/domain/CurrentActor")<CurrentActor, Actor>() {}

/** Two ways to say who one is, one answer: a session token as bearer, or a service account's key. */
export class Authentication extends HttpApiMiddleware.Tag<Authentication>()("@coffer/domain/Authentication", {
  provides: CurrentActor,
  failure: Unauthorized,
  security: {
    session: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "A person's session token (svc_st_…), from /api/auth/verify")
    ),
    apiKey: HttpApiSecurity.apiKey({ in: "header", key: "X-API-Key" }).pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "A service account's key (svc_sa_…)")
    )
  }
}) {}
