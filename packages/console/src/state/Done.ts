import { signal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import type { Place } from "../routing/Places.js"
import { place } from "../routing/Router.js"

/** The change that takes another one back. */
export interface Undo {
  readonly effect: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>
  /** Called after it, on the page of the change: reads what is shown there. */
  readonly done: () => void
}

interface Done {
  /** The change, as a sentence. */
  readonly what: string
  readonly undo: Undo | null
  /** The page that says it: not the next one. */
  readonly at: Place | null
}

/** The last change of the person that no page of its own says; null: none, or it was dismissed. */
export const lastDone = signal<Done | null>(null)

/** Says on the page that is open what was done, with its undo if it can be taken back. */
export const noteDone = (what: string, undo: Undo | null = null): void => {
  lastDone.value = { what, undo, at: place.peek() }
}

export const forgetDone = (): void => {
  lastDone.value = null
}
