import type { Actor, UserActor } from "@coffer/domain/Actor"
import { Forbidden, Reauthenticate } from "@coffer/domain/Errors"
import * as Effect from "effect/Effect"

const byPasskey = new Reauthenticate({
  message:
    "this needs a proof with your passkey from the last 15 minutes: give it, in a terminal by coffer reauthenticate, then repeat this"
})

const byLogin = new Reauthenticate({
  message: "this needs a login from the last 15 minutes: log in again, then repeat it"
})

/** What a person does whose login is too old for a call. */
export const loginTooOld = ({ hasPasskey }: UserActor): Reauthenticate => (hasPasskey ? byPasskey : byLogin)

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
    ? byPasskey
    : new Forbidden({ message: "this needs a passkey: register one under My account in the console" })
}
