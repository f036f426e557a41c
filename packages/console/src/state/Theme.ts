import { effect, signal } from "@preact/signals"
import * as Either from "effect/Either"

export const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const name = "coffer-theme"

/** A browser may let the page store nothing. */
const stored = (): Theme =>
  Either.try(() => localStorage.getItem(name)).pipe(
    Either.map((text) => themes.find((one) => one === text) ?? "system"),
    Either.getOrElse(() => "system" as const)
  )

/** The colours that the person has chosen in this browser. */
export const theme = signal<Theme>(stored())

/** Chooses the colours for all pages of this browser, or until the page is closed where it can store nothing. */
export const chooseTheme = (next: Theme): void => {
  theme.value = next
  Either.try(() => {
    localStorage.setItem(name, next)
  })
}

/** Draws the page in the chosen colours. */
export const watchTheme = (): void => {
  effect(() => {
    document.documentElement.style.colorScheme = theme.value === "system" ? "" : theme.value
  })
  addEventListener("storage", (event) => {
    if (event.key === name || event.key === null) theme.value = stored()
  })
}
