import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { SignInError } from "./ClientErrors.js"

/** The session of a service account that signs in with a token of its CI system or cluster. Kept in memory alone. */
export interface FederatedSession {
  readonly type: "federated"
  /** The token of the current session: read it for every request. */
  readonly secret: Redacted.Redacted
  /** Signs in again if the session has ended or is about to end. */
  readonly refresh: Effect.Effect<void, SignInError>
  /** Call when the server refuses the session, so that the next `refresh` signs in again. */
  readonly expire: () => void
}
