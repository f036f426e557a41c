import { type Signal, signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"
import { atFirstSign } from "../kit/Later.js"

type Overlay = ComponentType<{ readonly close: () => void; readonly first: string }>
type Name = "palette" | "keys"

/** The overlay that is open over every page; null: none. */
export const overlay: Signal<Name | null> = signal(null)

const loaded = signal<Readonly<Partial<Record<Name, Overlay>>>>({})

const load = async (name: Name): Promise<void> => {
  const Overlay =
    name === "palette" ? (await import("../palette/Palette.js")).Palette : (await import("../palette/KeyMap.js")).KeyMap
  loaded.value = { ...loaded.peek(), [name]: Overlay }
}

atFirstSign(() => load("palette"))

const isTyping = ({ target }: Event) =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null

/** The text that was typed after Ctrl K, while the palette was still loading. */
let early = ""

const typeEarly = (event: KeyboardEvent) => {
  const { altKey, ctrlKey, key, metaKey } = event
  if (key === "Escape") overlay.value = null
  else if (key === "Backspace") early = early.slice(0, -1)
  else if (key.length === 1 && !altKey && !ctrlKey && !metaKey) early += key
  else if (key !== "Enter") return
  // The page beneath must not get it.
  event.preventDefault()
  event.stopPropagation()
}

const press = (event: KeyboardEvent) => {
  const isFree = document.querySelector("dialog[open]") === null
  if (event.key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    event.preventDefault()
    early = ""
    if (overlay.value === "palette") overlay.value = null
    // A dialog may have typed text, or a key that is shown once: its page must not go from beneath it.
    else if (isFree) overlay.value = "palette"
  } else if (overlay.peek() === "palette" && isFree) {
    typeEarly(event)
  } else if (event.key === "?" && !isTyping(event) && isFree) {
    overlay.value = "keys"
  }
}

/** The palette and the list of keys, which are no part of the first page. They wait for the session; their keys do not. */
export const Overlays = ({ isReady }: { readonly isReady: boolean }) => {
  const name = isReady ? overlay.value : null
  useEffect(() => {
    document.addEventListener("keydown", press, { capture: true })
    return () => {
      document.removeEventListener("keydown", press, { capture: true })
    }
  }, [])
  useEffect(() => {
    if (name === null || loaded.peek()[name] !== undefined) return
    load(name).catch(() => {
      overlay.value = null
    })
  }, [name])
  const Overlay = name === null ? undefined : loaded.value[name]
  return Overlay === undefined ? null : (
    <Overlay
      first={early}
      close={() => {
        overlay.value = null
      }}
    />
  )
}
