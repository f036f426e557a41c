import { computed, signal } from "@preact/signals"
import * as Predicate from "effect/Predicate"
import { keepAndLeave } from "./Unsent.js"
import { placeOf } from "./Places.js"

const addressNow = () => location.pathname + location.search

const address = signal(addressNow())

export const currentAddress = (): string => address.peek()

const url = computed(() => new URL(address.value, location.origin))

const path = computed(() => url.value.pathname)

/** The place that the address names; null: none. */
export const place = computed(() => placeOf(path.value))

export const query = computed(() => url.value.searchParams)

/** The number of an entry of the history: tells how far the browser has gone. */
const numberOf = (state: unknown): number =>
  Predicate.hasProperty(state, "at") && typeof state.at === "number" ? state.at : 0

let at = numberOf(history.state)

const note = () => {
  address.value = addressNow()
}

const replace = (to: string) => {
  history.replaceState({ at }, "", to)
  note()
}

interface NavigateOptions {
  /** The address takes the place of the current one in the history. */
  readonly replace?: boolean
  /** Called if the person stays. */
  readonly stay?: () => void
}

/** Opens an address. A person who would lose something there is asked first. */
export const navigate = (to: string, options: NavigateOptions = {}): void => {
  const go = () => {
    if (options.replace === true) return replace(to)
    at += 1
    history.pushState({ at }, "", to)
    note()
  }
  if (to === address.peek()) go()
  else keepAndLeave("page", go, options.stay)
}

/** Sets parameters of the address, without an entry in the history. The page stays, and what is typed on it. */
export const setQueries = (parameters: { readonly [name: string]: string | null }): void => {
  const next = new URL(location.href)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === "") next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  if (next.href !== location.href) replace(next.pathname + next.search)
}

export const setQuery = (name: string, value: string | null): void => {
  setQueries({ [name]: value })
}

/** Whether the person was asked about the next step through the history. */
let isAgreed = false

/** Follows the browser's own ways through the history. It has gone already when it says so: a person who stays is brought back. */
const followHistory = (event: PopStateEvent): void => {
  if (addressNow() === address.peek()) {
    // A link within the page.
    if (event.state === null) history.replaceState({ at }, "")
    else at = numberOf(event.state)
    return
  }
  const next = numberOf(event.state)
  if (isAgreed) {
    isAgreed = false
    at = next
    return note()
  }
  const distance = next - at
  // Of an object: the function may run before this one goes on, or long after.
  const way = { isBack: false, isDone: false }
  keepAndLeave("page", () => {
    way.isDone = true
    if (way.isBack) {
      isAgreed = true
      return history.go(distance)
    }
    at = next
    note()
  })
  if (way.isDone) return
  way.isBack = true
  history.go(-distance)
}

export const watchAddress = (): void => {
  addEventListener("popstate", followHistory)
}
