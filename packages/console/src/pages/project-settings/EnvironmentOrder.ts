import type { EnvName } from "@coffer/domain/base/Names"
import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"

/** Returns names with one of them at another index. */
export const moved = (names: ReadonlyArray<EnvName>, name: EnvName, to: number): ReadonlyArray<EnvName> => {
  const others = names.filter((one) => one !== name)
  return [...others.slice(0, to), name, ...others.slice(to)]
}

export type Direction = "up" | "down"

export const moveId = (name: EnvName, direction: Direction): string => `move-${direction}-${name}`

export interface Order {
  /** The environments as they are shown. */
  readonly names: ReadonlyArray<EnvName>
  /** Whether they are in another order than the project has them. */
  readonly isChanged: boolean
  /** The last move, in words. */
  readonly said: ReadonlySignal<string>
  /** The environment that the mouse drags. */
  readonly dragged: Signal<EnvName | null>
  readonly move: (name: EnvName, to: number) => void
  /** Moves by one, and keeps the focus on the button. */
  readonly step: (name: EnvName, direction: Direction) => void
  readonly reset: () => void
}

/** An order that a person makes before it is saved. */
export const useOrder = (saved: ReadonlyArray<EnvName>): Order => {
  const chosen = useSignal<ReadonlyArray<EnvName> | null>(null)
  const last = useSignal<EnvName | null>(null)
  const dragged = useSignal<EnvName | null>(null)
  const pressed = useRef<{ readonly name: EnvName; readonly direction: Direction } | null>(null)
  // Environments may come and go meanwhile.
  const known = new Set(saved)
  const kept = (chosen.value ?? saved).filter((name) => known.has(name))
  const names = [...kept, ...saved.filter((name) => !kept.includes(name))]
  const said = useComputed(() => {
    const at = last.value === null ? -1 : (chosen.value ?? []).indexOf(last.value)
    return at === -1 ? "" : `${last.value ?? ""} is number ${at + 1} of ${chosen.value?.length ?? 0}.`
  })
  const move = (name: EnvName, to: number) => {
    last.value = name
    chosen.value = moved(names, name, to)
  }
  // An element that is moved in the document loses the focus.
  useLayoutEffect(() => {
    if (pressed.current === null) return
    const { direction, name } = pressed.current
    pressed.current = null
    const buttons = [direction, direction === "up" ? "down" : "up"] as const
    for (const one of buttons) {
      const button = document.getElementById(moveId(name, one))
      if (button instanceof HTMLButtonElement && !button.disabled) return button.focus()
    }
  }, [names.join(" ")])
  return {
    names,
    isChanged: names.some((name, index) => saved[index] !== name),
    said,
    dragged,
    move,
    step: (name, direction) => {
      pressed.current = { name, direction }
      move(name, names.indexOf(name) + (direction === "up" ? -1 : 1))
    },
    reset: () => {
      chosen.value = null
      last.value = null
    }
  }
}
