import { assert } from "vitest"
import type { Visit } from "./Visit.js"

const maxPresses = 60

/** Moves the focus by the keyboard to what has a text, from where it is. */
export const tabTo = async (visit: Visit, text: string): Promise<void> => {
  for (let presses = 0; presses < maxPresses; presses++) {
    const focused = await visit.page.evaluate("document.activeElement?.textContent ?? ''")
    if (focused === text) return
    await visit.page.keyboard.press("Tab")
  }
  assert.fail(`the keyboard does not reach ${text}`)
}
