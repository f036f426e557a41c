import { effect, signal } from "@preact/signals"
import * as Either from "effect/Either"
import { storedNames } from "./Stored.js"
import { drawIn, storedTheme, type Theme } from "./StoredTheme.js"

/** The colours that the person has chosen in this browser. */
export const theme = signal<Theme>(storedTheme())

/** Chooses the colours for all pages of this browser, or until the page is closed where it can store nothing. */
export const chooseTheme = (next: Theme): void => {
  theme.value = next
  Either.try(() => {
    localStorage.setItem(storedNames.theme, next)
  })
}

/** Draws the page in the chosen colours. */
export const watchTheme = (): void => {
  effect(() => {
    drawIn(theme.value)
  })
  addEventListener("storage", (event) => {
    if (event.key === storedNames.theme || event.key === null) theme.value = storedTheme()
  })
}
