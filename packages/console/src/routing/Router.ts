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

/** How many dialogs an entry of the history stands for: Back from it closes the last of them, and leaves the page. */
const dialogsOf = (state: unknown): number =>
  Predicate.hasProperty(state, "dialogs") && typeof state.dialogs === "number" ? state.dialogs : 0

/** Of the entry that is open. More than are open: dialogs of it have been closed in another way. */
let dialogs = dialogsOf(history.state)

const note = () => {
  address.value = addressNow()
}

const replace = (to: string) => {
  history.replaceState({ at, dialogs }, "", to)
  note()
}

/** Closes a dialog after the person was asked about what is lost by it: then `go` runs before it. */
type CloseDialog = (go: () => void) => void

/** The dialogs that are open, the outermost first. */
const covers: Array<CloseDialog> = []

/** Whether the entry that is open is that of a dialog. */
export const isCovered = (): boolean => dialogs > 0

/** Adds the entry of a dialog that opens next, if the history does not have it. */
export const cover = (): void => {
  if (dialogs > covers.length) return
  dialogs = covers.length + 1
  at += 1
  history.pushState({ at, dialogs }, "")
}

/** Makes Back close a dialog, and only it, until the function that it returns is called. */
export const closeByBack = (close: CloseDialog): (() => void) => {
  cover()
  covers.push(close)
  return () => {
    covers.splice(covers.indexOf(close), 1)
  }
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
    // The entry of a dialog, which is closed by this or was before, is of no use to Back any more.
    const isReplaced = options.replace === true || dialogs > 0
    dialogs = 0
    if (isReplaced) return replace(to)
    at += 1
    history.pushState({ at, dialogs }, "", to)
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

/** Notes where a step through the history has led. */
const arrive = (state: unknown): void => {
  at = numberOf(state)
  dialogs = dialogsOf(state)
  note()
}

/** Asks whether a step is taken that the browser has taken already: a person who stays is brought back. */
const ask = (distance: number, whether: (go: () => void) => void, agreed: () => void, again: () => void): void => {
  // Of an object: the function may run before this one goes on, or long after.
  const way = { isBack: false, isDone: false }
  whether(() => {
    way.isDone = true
    if (way.isBack) again()
    else agreed()
  })
  if (way.isDone) return
  way.isBack = true
  history.go(-distance)
}

/** Follows the browser's own ways through the history. It has gone already when it says so. */
const followHistory = ({ state }: PopStateEvent): void => {
  const distance = numberOf(state) - at
  if (isAgreed) {
    isAgreed = false
    return arrive(state)
  }
  const front = covers.at(-1)
  if (distance === -1 && front !== undefined && dialogsOf(state) < covers.length) {
    return ask(
      distance,
      front,
      () => arrive(state),
      () => {}
    )
  }
  if (addressNow() === address.peek()) {
    // A link within the page.
    if (state === null) return history.replaceState({ at, dialogs }, "")
    const wasDialog = dialogs > 0 && distance === -1
    arrive(state)
    // The entry of a dialog that is closed: the way leads on to the page before.
    if (wasDialog) history.back()
    return
  }
  ask(
    distance,
    (go) => keepAndLeave("page", go),
    () => arrive(state),
    () => {
      isAgreed = true
      history.go(distance)
    }
  )
}

export const watchAddress = (): void => {
  addEventListener("popstate", followHistory)
}
