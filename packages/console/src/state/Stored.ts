/** The names of what the console stores in the browser. */
export const storedNames = {
  theme: "coffer-theme",
  firstRun: "coffer-first-run",
  visited: "coffer-visited",
  consents: "coffer-consents"
} as const

/** Returns a text that was stored in this browser, which may let the page store nothing. */
export const storedText = (name: string): string | null => {
  // The first script has no library.
  // eslint-disable-next-line no-restricted-syntax
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}
