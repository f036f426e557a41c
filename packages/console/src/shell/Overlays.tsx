import { type Signal, signal, useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"

type Overlay = ComponentType<{ readonly close: () => void }>

/** What is open over every page; null: nothing. */
export const overlay: Signal<"palette" | "keys" | null> = signal(null)

const load = async (name: "palette" | "keys"): Promise<Overlay> =>
  name === "palette" ? (await import("../palette/Palette.js")).Palette : (await import("../palette/KeyMap.js")).KeyMap

const isTyping = ({ target }: Event) =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null

const press = (event: KeyboardEvent) => {
  if (event.key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    event.preventDefault()
    overlay.value = overlay.value === "palette" ? null : "palette"
  } else if (event.key === "?" && !isTyping(event) && document.querySelector("dialog[open]") === null) {
    overlay.value = "keys"
  }
}

/** The palette and the list of keys, which are loaded when they are opened. */
export const Overlays = () => {
  const found = useSignal<{ readonly name: string; readonly Overlay: Overlay } | null>(null)
  const name = overlay.value
  useEffect(() => {
    // What is typed right after the keys of the palette belongs into it.
    setTimeout(() => void load("palette").catch(() => {}), 1_000)
    document.addEventListener("keydown", press)
    return () => {
      document.removeEventListener("keydown", press)
    }
  }, [])
  useEffect(() => {
    if (name === null) return
    load(name).then(
      (Overlay) => {
        found.value = { name, Overlay }
      },
      () => {
        overlay.value = null
      }
    )
  }, [name])
  if (name === null || found.value?.name !== name) return null
  return (
    <found.value.Overlay
      close={() => {
        overlay.value = null
      }}
    />
  )
}
