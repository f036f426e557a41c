import type * as Redacted from "effect/Redacted"
import type { FederatedSession } from "./FederatedSession.js"

/** A client's credential: a service account's key or session, or a user's session token or delegation. */
export type Credential = ApiKey | DelegationToken | FederatedSession | SessionToken

export interface ApiKey {
  readonly type: "api_key"
  readonly secret: Redacted.Redacted
}

export interface SessionToken {
  readonly type: "session"
  readonly secret: Redacted.Redacted
}

/** A part of a user's rights in one environment. */
export interface DelegationToken {
  readonly type: "delegation"
  readonly secret: Redacted.Redacted
}
