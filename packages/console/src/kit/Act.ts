import { type ReadonlySignal, useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { start } from "../client/Run.js"
import { takeTexts } from "../routing/Typed.js"
import { closeDialogs } from "./Dialog.js"
import { openDialogs, returnFocus } from "./Focus.js"
import { useStillOpen } from "./StillOpen.js"

/** The result of `useAct`. */
export interface Action {
  readonly isBusy: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<Failure | null>
  /** Runs an effect, unless one runs. `done` is called with its value, unless the person has left the page meanwhile. */
  readonly run: <A, E extends Failure>(effect: Effect.Effect<A, E>, done: (value: A) => void) => void
  readonly clear: () => void
}

/** Runs what a person asked for, one at a time, and keeps what went wrong for `Problem`. */
export const useAct = (): Action => {
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  const isOpen = useStillOpen()
  return {
    isBusy,
    failure,
    run: (effect, done) => {
      if (isBusy.peek()) return
      isBusy.value = true
      failure.value = null
      // Not one that is opened before the answer is there.
      const dialogs = openDialogs()
      const { pathname } = location
      const pressed = document.activeElement
      const take = takeTexts(pressed?.closest("form") ?? null)
      start(effect, (outcome) => {
        isBusy.value = false
        returnFocus(pressed)
        if (outcome === null) return
        if ("value" in outcome) {
          take()
          // A follow-up, such as a navigation, must not affect another page that was opened meanwhile.
          if (isOpen() || location.pathname === pathname) done(outcome.value)
        }
        // A line of the shell says so.
        else if (outcome.failure._tag === "ChangeRequested") closeDialogs(dialogs)
        else failure.value = outcome.failure
      })
    },
    clear: () => {
      failure.value = null
    }
  }
}
