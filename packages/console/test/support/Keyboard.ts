import { assert } from "vitest"
import type { Visit } from "./Visit.js"

const maxPresses = 60

/** Moves the focus by the keyboard to what has a text, from where it is. */
export const tabTo = async (visit: Visit, text: string | RegExp): Promise<void> => {
  for (let presses = 0; presses < maxPresses; presses++) {
    const focused = await visit.page.evaluate<string>("document.activeElement?.textContent ?? ''")
    if (typeof text === "string" ? focused === text : text.test(focused)) return
    await visit.page.keyboard.press("Tab")
  }
  assert.fail(`the keyboard does not reach ${String(text)}`)
}

/** Moves the focus by the keyboard to the field of a label, from where it is. */
export const tabToField = async (visit: Visit, label: RegExp): Promise<void> => {
  for (let presses = 0; presses < maxPresses; presses++) {
    const focused = await visit.page.evaluate<string>(`{
      const one = document.activeElement
      const isField = one?.matches("input:not([type=checkbox]), select, textarea") ?? false
      isField ? (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? "") : ""
    }`)
    if (label.test(focused.trim()) && focused !== "") return
    await visit.page.keyboard.press("Tab")
  }
  assert.fail(`the keyboard does not reach the field ${String(label)}`)
}
