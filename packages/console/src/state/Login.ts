import { signal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { currentAddress } from "../routing/Router.js"
import { me, noteEnd } from "./Session.js"

/** Why the person has to log in: the session has ended, or its login is too old for a call. */
export type LoginReason = "ended" | "recent"

interface Ask {
  readonly reason: LoginReason
  readonly settle: (isLoggedIn: boolean) => void
}

/** The login that calls wait for; null: none. */
export const asked = signal<Ask | null>(null)

const waiting = new Set<(isLoggedIn: boolean) => void>()

const settle = (isLoggedIn: boolean) => {
  asked.value = null
  const all = [...waiting]
  waiting.clear()
  for (const done of all) done(isLoggedIn)
}

/** Where a browser logs in, and then comes back to an address. */
export const loginAddress = (next: string, reason: LoginReason = "ended"): string =>
  `/login?next=${encodeURIComponent(next)}${reason === "recent" ? "&recent=1" : ""}`

/** Whether the page goes to the login: each of its first calls finds that there is no session. */
let isLeaving = false

/**
 * Waits until the person has logged in, or fails with `failure` if they decline. The page stays as it is, with what is staged
 * on it. A page that has not begun goes to the login instead.
 */
export const askLogin = <E>(reason: LoginReason, failure: E): Effect.Effect<void, E> => {
  if (reason === "ended") noteEnd()
  if (me.peek() === null) {
    if (!isLeaving) location.assign(loginAddress(currentAddress()))
    isLeaving = true
    return Effect.never
  }
  return Effect.async<void, E>((resume) => {
    const done = (isLoggedIn: boolean) => {
      resume(isLoggedIn ? Effect.void : Effect.fail(failure))
    }
    waiting.add(done)
    asked.value ??= { reason, settle }
    return Effect.sync(() => waiting.delete(done))
  })
}
