import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { useLazy } from "./Lazy.js"

const loads = new Set<() => Promise<unknown>>()

let isUsed = false

const loadAll = () => {
  isUsed = true
  for (const load of loads) load().catch(() => {})
  loads.clear()
}

const signs = ["keydown", "pointerdown", "pointermove"]

const notice = (event: Event) => {
  // A browser sends a move without a way to a page that appears beneath the pointer.
  if (event instanceof PointerEvent && event.type === "pointermove" && event.movementX + event.movementY === 0) return
  for (const sign of signs) removeEventListener(sign, notice, true)
  loadAll()
}

for (const sign of signs) addEventListener(sign, notice, { capture: true, passive: true })

/** Text and Enter that come before a part is there are for the part, and not for the page beneath. */
const swallow = (event: KeyboardEvent): void => {
  const { altKey, ctrlKey, key, metaKey } = event
  // The browser's own keys, such as those of a reload, work while a script is slow.
  if (altKey || ctrlKey || metaKey || (key.length > 1 && !/^(Enter|Backspace|Delete)$/.test(key))) return
  event.preventDefault()
  event.stopPropagation()
}

const useSwallowed = (isWaiting: boolean): void => {
  useLayoutEffect(() => {
    if (!isWaiting) return
    addEventListener("keydown", swallow, true)
    return () => {
      removeEventListener("keydown", swallow, true)
    }
  }, [isWaiting])
}

/** Loads something once, at the first sign of a person: what opens over every page is no part of the first one. */
export const atFirstSign = (load: () => Promise<unknown>): void => {
  loads.add(load)
  if (isUsed) loadAll()
}

/**
 * A part of a page that a person opens. It is in another script than the page, and that is loaded at the first sign of a
 * person, so that the part opens at once.
 */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  const known: { part: ComponentType<Props> | null } = { part: null }
  const loadOnce = async () => {
    known.part = await load()
    return known.part
  }
  atFirstSign(loadOnce)
  return (props: Props) => {
    const isFailed = useSignal(false)
    const isKnown = known.part !== null
    const loaded = useLazy(!isKnown, loadOnce, () => {
      isFailed.value = true
    })
    const Part = known.part ?? loaded?.Part ?? null
    useSwallowed(Part === null && !isFailed.value)
    if (isFailed.value) return <p role="alert">This part could not be loaded. Reload the page to try again.</p>
    return Part === null ? null : <Part {...props} />
  }
}
