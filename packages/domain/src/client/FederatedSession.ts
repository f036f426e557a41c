import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { ServerUnreachable, UnexpectedResponse } from "./ClientErrors.js"
import type { BadSetting } from "./Settings.js"

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

/** A service account could not sign in. */
export class SignInFailed extends Data.TaggedError("SignInFailed")<{
  readonly reason: string
  /** What the server said. It repeats claims of the token, such as the name of a branch. */
  readonly detail?: string
  readonly next: string
}> {
  override get message() {
    return `${this.reason}${this.detail === undefined ? "" : `: ${this.detail.replace(/[.;:]?\s*$/, "")}`}; ${this.next}`
  }
}

export type SignInError = BadSetting | ServerUnreachable | SignInFailed | UnexpectedResponse
