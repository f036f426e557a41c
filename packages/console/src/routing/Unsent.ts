import { signal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import { useLayoutEffect, useRef } from "preact/hooks"
import { forgetText, labelOf, typedFields, watchTyping } from "./Typed.js"

/** An action that a person may take in place of losing something. */
export interface Instead {
  /** The words on the button. */
  readonly word: string
  readonly effect: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>
  readonly done: () => void
}

/** Something that a person loses by leaving it: typed text, a key that is shown once, work under way. */
export interface Holder {
  /** The loss, as a sentence. */
  readonly what: string
  readonly holds: () => boolean
  /** Where it stands; null: on no page, and it stays while pages change. */
  readonly element: () => Element | null
  readonly instead?: Instead
}

/** How something is left: one part of the page closes, another page opens, or the console ends. */
export type Way = Element | "page" | "console"

const holders = new Set<() => Holder>()

/** The functions that keep the typed texts of an element elsewhere, such as by staging them. */
const keepers = new Map<Element, () => void>()

const isLeft = (way: Way, element: Element | null): boolean =>
  way === "console" || (element !== null && (way === "page" || way.contains(element)))

/** Returns the holders whose content would be lost. */
export const unsent = (way: Way): ReadonlyArray<Holder> => [
  ...[...holders].map((of) => of()).filter((one) => isLeft(way, one.element()) && one.holds()),
  ...typedFields()
    .filter((field) => isLeft(way, field))
    .map((field): Holder => ({
      what: `What you have typed as “${labelOf(field)}” is kept nowhere yet.`,
      holds: () => true,
      element: () => field
    }))
]

/** Whether a way leaves something that can be kept elsewhere. */
const canKeep = (way: Way): boolean =>
  [...keepers.keys()].some((element) => typedFields().some((field) => element.contains(field) && isLeft(way, field)))

/** Keeps what a way leaves and what can be kept elsewhere. */
const keep = (way: Way): void => {
  for (const [element, run] of [...keepers]) {
    if (typedFields().some((field) => element.contains(field) && isLeft(way, field))) run()
  }
}

interface Question {
  readonly way: Way
  readonly lost: ReadonlyArray<Holder>
  /** Whether it can be kept elsewhere. */
  readonly mayKeep: boolean
  readonly go: () => void
  readonly stay: () => void
}

/** The question to the person before something is lost; null: none. */
export const question = signal<Question | null>(null)

const ask = (way: Way, mayKeep: boolean, go: () => void, stay: () => void): void => {
  const lost = unsent(way)
  if (lost.length === 0) go()
  else question.value = { way, lost, mayKeep, go, stay }
}

const nothing = () => {}

/** Goes, unless something would be lost: then the person is asked. */
export const leave = (way: Way, go: () => void, stay = nothing): void => {
  ask(way, canKeep(way), go, stay)
}

/** As `leave`, after what can be kept elsewhere is kept there. */
export const keepAndLeave = (way: Way, go: () => void, stay = nothing): void => {
  keep(way)
  ask(way, false, go, stay)
}

/** Forgets the texts that a person gives up. */
export const forget = (way: Way): void => {
  for (const field of typedFields()) if (isLeft(way, field)) forgetText(field)
}

let isReleased = false

/** Lets the page go without a question of the browser: the person was asked, or what it holds is not theirs any more. */
export const release = (): void => {
  isReleased = true
}

/** Holds something as long as a part of the page is shown. */
export const useUnsent = (holder: Holder): void => {
  const latest = useRef(holder)
  latest.current = holder
  // Before the first paint: an Escape that comes at once must ask too.
  useLayoutEffect(() => {
    const of = () => latest.current
    holders.add(of)
    return () => {
      holders.delete(of)
    }
  }, [])
}

/** Registers something that lives as long as the page. */
export const holdAlways = (holder: Holder): void => {
  holders.add(() => holder)
}

/** Says how the texts of an element are kept elsewhere. The function that it returns takes that back. */
export const keepTexts = (element: Element, run: () => void): (() => void) => {
  keepers.set(element, run)
  return () => {
    keepers.delete(element)
  }
}

/** Makes the browser ask before the console ends. */
export const watchUnsent = (): void => {
  watchTyping()
  addEventListener("beforeunload", (event) => {
    if (!isReleased && unsent("console").length > 0) event.preventDefault()
  })
}
