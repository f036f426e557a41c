import { type Signal, signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"

type Overlay = ComponentType<{ readonly close: () => void }>
type Name = "palette" | "keys"

/** The overlay that is open over every page; null: none. */
export const overlay: Signal<Name | null> = signal(null)

const loaded = signal<Readonly<Partial<Record<Name, Overlay>>>>({})

const load = async (name: Name): Promise<void> => {
  const Overlay =
    name === "palette" ? (await import("../palette/Palette.js")).Palette : (await import("../palette/KeyMap.js")).KeyMap
  loaded.value = { ...loaded.peek(), [name]: Overlay }
}

const isTyping = ({ target }: Event) =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null

const press = (event: KeyboardEvent) => {
  const isFree = document.querySelector("dialog[open]") === null
  if (event.key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    event.preventDefault()
    if (overlay.value === "palette") overlay.value = null
    // A dialog may have typed text, or a key that is shown once: its page must not go from beneath it.
    else if (isFree) overlay.value = "palette"
  } else if (event.key === "?" && !isTyping(event) && isFree) {
    overlay.value = "keys"
  }
}

/** The palette and the list of keys, which are no part of the first page. */
export const Overlays = () => {
  const name = overlay.value
  useEffect(() => {
    // The palette has to open at once: what is typed right after its keys belongs into it.
    load("palette").catch(() => {})
    document.addEventListener("keydown", press)
    return () => {
      document.removeEventListener("keydown", press)
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
      close={() => {
        overlay.value = null
      }}
    />
  )
}
