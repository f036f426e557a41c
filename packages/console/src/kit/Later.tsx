import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useLazy } from "./Lazy.js"

const loads = new Set<() => Promise<unknown>>()

let isUsed = false

const loadAll = () => {
  isUsed = true
  for (const load of loads) load().catch(() => {})
  loads.clear()
}

for (const sign of ["keydown", "pointerdown", "pointermove"]) {
  addEventListener(sign, loadAll, { capture: true, once: true, passive: true })
}

/**
 * A part of a page that a person opens. It is in another script than the page, and that is loaded at the first sign of a
 * person, so that the part opens at once.
 */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  loads.add(load)
  if (isUsed) loadAll()
  return (props: Props) => {
    const isFailed = useSignal(false)
    const loaded = useLazy(true, load, () => {
      isFailed.value = true
    })
    if (isFailed.value) return <p role="alert">This part could not be loaded. Reload the page to try again.</p>
    return loaded === null ? null : <loaded.Part {...props} />
  }
}
