import { effect, type ReadonlySignal, signal } from "@preact/signals"
import { call } from "../client/Calls.js"
import { start } from "../client/Run.js"
import { asked } from "../state/Login.js"
import { me, onEndElsewhere } from "../state/Session.js"

const usualMillis = 30_000

/** How often the session is checked while a value is shown: it may have ended elsewhere. */
const checkMillis = 3_000

interface Revealed<A> {
  /** The value that is shown; null: none. */
  readonly shown: ReadonlySignal<A | null>
  readonly hide: () => void
  /** Shows values for a while, or until the page is hidden or the session ends. */
  readonly show: (next: A) => void
}

/** Values that are shown for a while. One is shown at a time. */
export const makeRevealed = <A>(shownMillis = usualMillis): Revealed<A> => {
  const shown = signal<A | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined
  let checks: ReturnType<typeof setInterval> | undefined
  const hide = () => {
    clearTimeout(timer)
    clearInterval(checks)
    shown.value = null
  }
  /** A session that has ended makes `call` ask for a login, which hides the value. */
  const checkSession = () => {
    start(
      call("auth", (api) => api.me()),
      (outcome) => {
        if (outcome !== null && "value" in outcome && outcome.value.id !== me.peek()?.id) hide()
      }
    )
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hide()
  })
  effect(() => {
    if (asked.value !== null) hide()
  })
  onEndElsewhere(hide)
  return {
    shown,
    hide,
    show: (next) => {
      hide()
      // The value may arrive after the page was hidden.
      if (document.hidden) return
      shown.value = next
      timer = setTimeout(hide, shownMillis)
      checks = setInterval(checkSession, checkMillis)
    }
  }
}
