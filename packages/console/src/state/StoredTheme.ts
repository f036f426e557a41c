import { storedNames, storedText } from "./Stored.js"

export const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

/** The colours that the person has chosen in this browser. */
export const storedTheme = (): Theme => {
  const text = storedText(storedNames.theme)
  return themes.find((one) => one === text) ?? "system"
}

/** Draws the page in colours. */
export const drawIn = (theme: Theme): void => {
  document.documentElement.style.colorScheme = theme === "system" ? "" : theme
}
