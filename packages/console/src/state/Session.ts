import type { User } from "@coffer/domain/directory/User"
import { signal } from "@preact/signals"

/** The user who is logged in; null until the server has responded. */
export const me = signal<User | null>(null)

const tabs = new BroadcastChannel("session")

const ended = "ended"

/** Says to the other tabs of this browser that the session has ended. */
export const noteEnd = (): void => {
  tabs.postMessage(ended)
}

/** Calls `f` when another tab has noticed that the session has ended. */
export const onEndElsewhere = (f: () => void): void => {
  tabs.addEventListener("message", ({ data }) => {
    if (data === ended) f()
  })
}

/** Notes who is logged in, and says so to the other tabs. */
export const noteMe = (person: User): void => {
  me.value = person
  tabs.postMessage(person.id)
}

/** Calls `f` when another person has logged in by another tab: the session of this browser is theirs. */
export const onOtherPerson = (f: () => void): void => {
  tabs.addEventListener("message", ({ data }) => {
    const own = me.peek()?.id
    if (own !== undefined && data !== ended && data !== own) f()
  })
}
