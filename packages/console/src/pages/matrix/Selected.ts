import { secretKeyForm } from "@coffer/domain/base/NameForms"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { computed, signal } from "@preact/signals"
import { query, setQueries } from "../../routing/Router.js"
import { keepAndLeave } from "../../routing/Unsent.js"

/** Below this width there is no room for a panel beside the grid: a key has its own page. */
const media = matchMedia("(min-width: 75rem)")

export const isWide = signal(media.matches)
media.addEventListener("change", ({ matches }) => (isWide.value = matches))

/** The id of the panel beside the grid. */
export const sideId = "matrix-side"

/** The key that the address selects; null: none. */
export const selectedKey = computed((): SecretKey | null => {
  const key = query.value.get("key") ?? ""
  return secretKeyForm.is(key) ? key : null
})

/** Leaves the text that is typed in the panel: it is staged, or the person is asked. */
export const leaveSide = (go: () => void): void => {
  const side = document.getElementById(sideId)
  if (side === null) go()
  else keepAndLeave(side, go)
}

/** Shows a key beside the grid, at an environment or at the one that the address marks. */
export const select = (key: SecretKey, env?: EnvName): void => {
  leaveSide(() => {
    setQueries({ key, ...(env !== undefined && { env }) })
  })
}
