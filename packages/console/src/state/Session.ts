import type { User } from "@coffer/domain/User"
import { signal } from "@preact/signals"

/** Who is logged in; null until the server has said. */
export const me = signal<User | null>(null)

const tabs = new BroadcastChannel("session")

/** Says to the other tabs of this browser that the session has ended. */
export const noteEnd = (): void => {
  tabs.postMessage("ended")
}

/** Calls `f` when another tab has noticed that the session has ended. */
export const onEndElsewhere = (f: () => void): void => {
  tabs.addEventListener("message", f)
}
