import type { Actor, UserActor } from "@coffer/domain/access/Actor"
import { Forbidden, Reauthenticate } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"

/**
 * The proof that a session has to give. `session`: one that counts for 15 minutes in a browser, and as long as its session
 * in a program. `now`: one of the last 15 minutes, in any session. `recovery`: a login of the last 15 minutes if every
 * passkey was lost.
 */
type Proof = "session" | "now" | "recovery"

const messageOf = ({ hasPasskey, sessionKind }: UserActor, proof: Proof): string => {
  const isProgram = sessionKind === "token"
  const lasts = isProgram && proof === "session"
  if (!hasPasskey) {
    return lasts
      ? "log in again first (coffer login), then retry: this session began without a proof of who you are"
      : "log in again first, then retry: this needs a login from the last 15 minutes"
  }
  const verify = `verify with your passkey first${isProgram ? " (coffer reauthenticate)" : ""}`
  if (proof === "recovery") {
    return `${verify}, or log in again if you lost it, then retry: this needs a proof or a login from the last 15 minutes`
  }
  return lasts ? `${verify}, then retry` : `${verify}, then retry: this needs a proof from the last 15 minutes`
}

/** Returns the error for a session that has not proven enough for a call. Its message tells the person what to do. */
export const loginTooOld = (actor: UserActor, proof: Proof = "session"): Reauthenticate =>
  new Reauthenticate({ message: messageOf(actor, proof) })

/** Fails unless a person's login is recent enough, for calls that need it only for some changes. */
export const requireRecentLogin = (actor: Actor): Effect.Effect<void, Reauthenticate> =>
  actor.type === "user" && !actor.loginIsRecent ? loginTooOld(actor) : Effect.void

/**
 * Fails unless the person proved the session with a passkey in the last 15 minutes, however its login is: with Reauthenticate, or
 * with Forbidden for who has no passkey. Call it in the transaction of what needs it.
 */
export const requirePasskey = (actor: Actor): Effect.Effect<void, Forbidden | Reauthenticate> => {
  if (actor.type === "user" && actor.passkeyIsRecent) return Effect.void
  return actor.type === "user" && actor.hasPasskey
    ? loginTooOld(actor, "now")
    : new Forbidden({ message: "this needs a passkey: register one under My account in the console" })
}
